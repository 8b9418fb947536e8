"""The rows of the command: its words, whose options are drawn by family."""

from __future__ import annotations

from row import Row

COMMAND = [
    Row("density", 'described(command("density", {shell_family}))'),
    Row("density", 'described(command("density", {shell_score}))'),
    Row("density", 'tabled(command("density", {shell_line}, at="{mu},{mu2}"))'),
    Row("density", 'described(command("density", {shell_line}, quantiles="0,{unit},1"))'),
    Row("sample", 'answered(command("sample", {shell_family}, count=50, seed={seed}))'),
    Row("sample", 'answered(command("sample", {shell_score}, count=5, seed={seed}))'),
    Row("map", 'mapped(command("map", "-", {shell_map}, table={shell_table}))'),
    Row(
        "map",
        'answered(command("map", "-", "--gradient", {shell_map}, target="c", table=np.floor({shell_table} % 2)))',
    ),
    Row("loss", 'answered(command("loss", {shell_line}, data="-", table={sample}))'),
    Row("loss", 'answered(command("loss", {shell_counts}, data="-", table={counts}))'),
    Row("attend", 'answered(command("attend", "-", mu={mu}, sigma2={scale}, alpha={alpha}, table={shell_table}))'),
    Row(
        "attend",
        'answered(command("attend", "-", weight="a", alpha={light}, ridge={ridge}, table=abs({shell_table})))',
    ),
    Row("fit", 'answered(command("fit", "-", {shell_fit}, table={sample}))'),
    Row("fit", 'answered(command("fit", "-", family="sparse-poisson", alpha={alpha}, table={counts}))'),
    Row("fit", 'answered(command("fit", "-", alpha={light}, table={points}))'),
    Row("kde", 'answered(command("kde", "-", alpha=f"{1 + {unit}}", bandwidth="{scale}", table={sample}))'),
    Row("kde", 'answered(command("kde", "-", at="{mu},{mu2}", table={sample}))'),
    Row("fit", 'answered(command("fit", "-", family="gaussian", bootstrap=9, level="0.8", table={sample}))'),
    Row("fit", 'ranked(command("fit", "-", compare="gaussian,laplace,biweight", folds=3, table={sample}))'),
    Row(
        "regress",
        'answered(command("regress", "-", x="a", y="b", alpha={light}, penalty=0.1, scale_penalty=1, '
        "table={line_table}))",
    ),
    Row(
        "predict",
        'predicted(command("predict", model_of("regress", x="a", y="b", alpha={light}, penalty=0.1, scale_penalty=1, '
        'table={line_table}), "-", level={unit}, table={line_table}))',
    ),
    Row("density", 'described(command("density", model_of("fit", {shell_fit}, table={sample})))'),
    Row("plot density", 'drawn(command("plot", "density", {shell_line}))'),
    Row("plot cdf", 'drawn(command("plot", "cdf", {shell_line}))'),
    Row(
        "plot fit",
        'drawn(command("plot", "fit", "-", model=model_of("fit", {shell_fit}, table={sample}), table={sample}))',
    ),
    Row("plot attention", 'drawn(command("plot", "attention", "-", mu={unit}, sigma2={scale}, table={shell_table}))'),
    Row(
        "plot regression",
        'drawn(command("plot", "regression", "-", x="a", y="b", penalty=0.1, scale_penalty=1, table={line_table}))',
    ),
    Row("plot string", 'drawn(command("plot", "string", score={formula}, gamma={gamma}))'),
    Row("plot geodesics", 'drawn(command("plot", "geodesics", alpha={light}, to="{mu},{scale}"))'),
    Row("report", 'holds(len(command("report", "--help")) > 9)'),
    Row("version", 'holds(command("version")["version"] != "")'),
]
