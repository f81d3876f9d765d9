"""Overviews: the page of a Takeout that lists what is in it, and says whose it is."""

OVERVIEWS = ("archive_browser.html", "Archiv_Übersicht.html")
"""What it is called: in German it has a name of its own."""
