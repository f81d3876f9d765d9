"""Pages for people: the icon, and where a citation leads."""

ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="PDPP">
<rect width="64" height="64" rx="14" fill="#17324d"/>
<path d="M16 44V20h18a9 9 0 0 1 0 18H25" fill="none" stroke="#f5efe3" stroke-width="5"
 stroke-linecap="round" stroke-linejoin="round"/>
<path d="M16 50h32" stroke="#e8a33d" stroke-width="5" stroke-linecap="round"/>
<circle cx="47" cy="29" r="4" fill="#e8a33d"/>
</svg>
"""

RECORD_DOOR = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>A record of this server's owner</title>
<style>body{font:1rem/1.5 system-ui;max-width:34rem;margin:15vh auto;padding:0 1rem}</style>
<h1>This record is for its owner</h1>
<p>The address names a record on a personal data server. Only the owner can open it here.</p>
<p>If you are the owner, read it with a token of your own under <code>/v1</code>.</p>
</html>
"""

PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
