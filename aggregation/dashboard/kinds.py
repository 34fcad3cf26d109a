"""How the results of each kind of question look: its template. To add a kind, name its template."""

RESULTS = {
    kind: f"aggregation/dashboard/kinds/{kind}.html"
    for kind in ("yes_no", "choice", "scale", "number", "several")
}
