"""The exports of Spotify."""
