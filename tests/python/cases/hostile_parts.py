"""Short ways to build models that make no sense; used by the tests of hostile models."""

from oracle import boolean, f32, make_graph, make_model, parse_nodes

X = (f32, (2,))


def model_of(text_or_nodes, inputs=None, outputs=None, weights=None, **options):
    inputs = {"x": X} if inputs is None else inputs
    return make_model(text_or_nodes, inputs, {"y": f32} if outputs is None else outputs, weights, **options)


def changed(model, change):
    """The model after `change(model)`."""
    change(model)
    return model


BRANCH = make_graph(parse_nodes("r = Neg(x)"), {}, {"r": f32}, name="branch")
COND = {"c": (boolean, ()), "x": X}
