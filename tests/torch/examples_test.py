"""The training runs of examples/torch: they learn, and what they attend to is where the truth is."""

import pathlib
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")
Image = pytest.importorskip("PIL.Image")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "torch"))

import bursts  # noqa: E402
import classifier  # noqa: E402
import conditional_density  # noqa: E402
import learned_alpha  # noqa: E402
import shape  # noqa: E402
import transformer  # noqa: E402
import two_objects  # noqa: E402


def is_drawn(example, learned, folder):
    """Like the picture in the documents."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    name = f"{example.__name__}.png"
    example.draw(learned, str(folder / name))
    kept = ROOT / "docs" / "images" / "torch" / name
    with Image.open(folder / name) as drawn, Image.open(kept) as shown:
        assert drawn.size == shown.size
    assert kept.stat().st_size < 60_000


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_a_classifier_rules_digits_out(alpha):
    result = classifier.train(alpha, epochs=10)
    assert result.accuracy > 0.95
    assert result.possible < 2 and result.sure > 0.6 and result.right > 0.97


def test_attention_finds_bursts(tmp_path):
    _, discrete = bursts.train("discrete", epochs=5)
    assert discrete.unexplained < 0.1 and discrete.overlap < 0.35  # softmax is above 0 everywhere
    assert discrete.overlap95 > 0.6  # but most of it is in the burst
    for kind in ("continuous", "both"):
        model, result = bursts.train(kind, epochs=5)
        assert result.unexplained < 0.1 and result.mass > 0.8 and result.overlap > 0.55
    is_drawn(bursts, model, tmp_path)


def test_attention_finds_a_shape(tmp_path):
    _, discrete = shape.train("discrete", epochs=2)
    model, continuous = shape.train("continuous")
    assert continuous.unexplained < 0.05 and continuous.mass > 0.8
    assert continuous.overlap > 0.55 and discrete.overlap < 0.25
    is_drawn(shape, model, tmp_path)


def test_alpha_is_learned_from_both_sides(tmp_path):
    fixed = learned_alpha.train(2.0, False, steps=60).error
    results = [learned_alpha.train(alpha, True, steps=120) for alpha in (1.05, 6.0)]
    for result in results:
        assert 1.05 < result.alphas[0] < 1.4 and 3 < result.alphas[1] < 5.5
        assert result.error < fixed / 4
    is_drawn(learned_alpha, results, tmp_path)


def test_a_density_with_pieces_finds_two_objects(tmp_path):
    one_bell, one = two_objects.train("one bell", epochs=4)
    any_score, several = two_objects.train("any score", epochs=6)
    assert several.unexplained < 0.1 and several.unexplained < one.unexplained / 2
    assert several.overlap > 0.3 and one.overlap < 0.3
    is_drawn(two_objects, {"one bell": one_bell, "any score": any_score}, tmp_path)


def test_a_sorter_goes_from_softmax_to_entmax(tmp_path):
    torch.manual_seed(0)
    model = transformer.Model()
    transformer.train(model, 250, 6e-3, seed=2)
    dense = transformer.measure(model)
    assert dense.right > 0.95
    assert dense.seen == transformer.HALF + (transformer.HALF - 1) / 2  # each sees all letters so far
    transformer.sparsify(model, alpha=1.5)
    at_once = transformer.measure(model)
    transformer.train(model, 50, 2e-3, seed=4)
    sparse = transformer.measure(model)
    assert sparse.right > max(0.98, at_once.right) and sparse.seen < 5
    line = "thequickbrwn:"
    assert transformer.go_on(model, line, transformer.HALF) == line + "".join(sorted(line[:-1])) + "."
    seen = transformer.looked_at(model, line)
    assert len(seen) == 4 and all(one in (letter, ".") for head in seen for one, letter in zip(head, line))
    assert sum(letter != "." for head in seen for letter in head) < 20
    is_drawn(transformer, model, tmp_path)


def test_a_conditional_density_has_two_branches(tmp_path):
    data, learned = conditional_density.fork(), []
    for alpha, steps in ((1.0, 60), (1.5, 100)):
        model, result = conditional_density.train(data, alpha, steps)
        learned.append((data, model))
        assert result.crps < 0.15 and result.covered > 0.9
        assert result.length > 0.999 if alpha == 1 else result.length < 0.95
    with torch.no_grad():
        low, middle, high = model(torch.tensor([0.95])).pdf(torch.tensor([[0.05], [0.5], [0.95]])).flatten()
    assert middle < 0.3 < min(low, high)  # hardly anything between the branches
    conditional_density.draw(2 * learned, str(tmp_path / "drawn.png"))
    file = tmp_path / "pairs.csv"
    file.write_text("waiting,duration\n80,4\n71,2.5\n57,3\n")
    assert conditional_density.read(file, ("waiting", "duration")).y.tolist() == pytest.approx([1, 0, 1 / 3])


@pytest.mark.parametrize(
    "example", [bursts, conditional_density, learned_alpha, shape, transformer, two_objects], ids=lambda example: example.__name__
)
def test_help(example, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [example.__name__, "--help"])
    with pytest.raises(SystemExit, match="0"):
        example.main()
    assert "--picture FILE" in capsys.readouterr().out
