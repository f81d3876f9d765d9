"""The icon of this server, drawn here and never fetched."""

ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="PDPP">
<rect width="64" height="64" rx="14" fill="#17324d"/>
<path d="M16 44V20h18a9 9 0 0 1 0 18H25" fill="none" stroke="#f5efe3" stroke-width="5"
 stroke-linecap="round" stroke-linejoin="round"/>
<path d="M16 50h32" stroke="#e8a33d" stroke-width="5" stroke-linecap="round"/>
<circle cx="47" cy="29" r="4" fill="#e8a33d"/>
</svg>
"""
