"""Fitted networks of scikit-learn, against what they predict."""

import numpy as np
import pytest
import torch

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading import model_of

networks = pytest.importorskip("sklearn.neural_network", reason="compares with scikit-learn")
pipeline = pytest.importorskip("sklearn.pipeline")
scalers = pytest.importorskip("sklearn.preprocessing")
compose = pytest.importorskip("sklearn.compose")
linear = pytest.importorskip("sklearn.linear_model")
selection = pytest.importorskip("sklearn.model_selection")
pytestmark = pytest.mark.filterwarnings("ignore")  # a few steps do not converge

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("activation", ["relu", "identity"])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 4)])
def test_a_regressor(activation, hidden):
    fitted = networks.MLPRegressor(
        hidden_layer_sizes=hidden, activation=activation, max_iter=5, random_state=0
    )
    fitted.fit(X, X[:, :2] ** 2)
    model = model_of(fitted)
    computed = model.net(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(computed, fitted.predict(X), rtol=1e-12, atol=1e-12)
    stored = sum((a**2).sum() for a in (*fitted.coefs_, *fitted.intercepts_))
    assert model.stored_cost == pytest.approx(stored)
    assert model.net.slope == (1 if activation == "identity" and hidden else 0)
    assert (model.source, model.assumed) == ("scikit-learn", ())


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier_before_softmax(classes):
    labels = np.arange(30) % classes
    fitted = networks.MLPClassifier((5,), max_iter=5, random_state=0).fit(X, labels)
    model = model_of(fitted)
    out = model.net(torch.from_numpy(X))
    if classes == 2:
        np.testing.assert_allclose(torch.sigmoid(out[:, 0]), fitted.predict_proba(X)[:, 1])
    else:
        np.testing.assert_allclose(torch.softmax(out, -1), fitted.predict_proba(X))
    last = "logistic" if classes == 2 else "softmax"
    assert model.assumed == (f"the output is that before {last}",)


def mlp(**options):
    return networks.MLPRegressor(hidden_layer_sizes=(5,), max_iter=3, random_state=0, **options)


WIDE = X * [1, 10, 100] + 5
PIPES = {
    "standard": lambda: pipeline.make_pipeline(scalers.StandardScaler(), mlp()),
    "no mean": lambda: pipeline.make_pipeline(scalers.StandardScaler(with_mean=False), mlp()),
    "nothing": lambda: pipeline.make_pipeline(
        scalers.StandardScaler(with_mean=False, with_std=False), "passthrough", mlp()
    ),
    "range": lambda: pipeline.make_pipeline(scalers.MinMaxScaler((-1, 2)), mlp()),
    "two": lambda: pipeline.make_pipeline(scalers.MaxAbsScaler(), scalers.RobustScaler(), mlp()),
    "target": lambda: compose.TransformedTargetRegressor(
        pipeline.make_pipeline(scalers.StandardScaler(), mlp()),
        transformer=scalers.StandardScaler(),
    ),
    "target inside": lambda: pipeline.make_pipeline(
        scalers.StandardScaler(),
        compose.TransformedTargetRegressor(mlp(), transformer=scalers.MinMaxScaler()),
    ),
    "no target": lambda: compose.TransformedTargetRegressor(mlp()),
}


@pytest.mark.parametrize("make", PIPES.values(), ids=PIPES)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_scalers_are_affine_maps_without_cost(make, activation):
    fitted = make().fit(WIDE, WIDE[:, :2] ** 2)
    inner = fitted
    while not hasattr(inner, "coefs_"):
        inner = inner.regressor_ if hasattr(inner, "regressor_") else inner[-1]
    inner.activation = activation
    read = model_of(fitted, theorems=activation == "relu")
    assert isinstance(read, Model if activation == "relu" else Graph)
    net = read.net if isinstance(read, Model) else read
    computed = net(torch.from_numpy(WIDE)).numpy()
    np.testing.assert_allclose(computed, fitted.predict(WIDE), rtol=1e-9, atol=1e-9)
    stored = sum((a**2).sum() for a in (*inner.coefs_, *inner.intercepts_))
    assert read.stored_cost == pytest.approx(stored)


def test_what_was_folded_is_said_and_layers_have_names():
    fitted = PIPES["target"]().fit(WIDE, WIDE[:, :2] ** 2)
    assert model_of(fitted).folded == (
        "the scaler 'standardscaler' was folded into 'coefs_[0]'",
        "the scaler 'transformer_' was folded into 'coefs_[1]'",
    )
    fitted.regressor_[-1].activation = "logistic"
    graph = model_of(fitted, theorems=False)
    assert [layer.name for layer in graph.layers.values() if layer.maps] == [
        "coefs_[0]",
        "coefs_[1]",
    ]
    assert "Sigmoid" in [layer.title for layer in graph.layers.values()]


REFUSED = {
    "clip": (
        lambda: pipeline.make_pipeline(scalers.MinMaxScaler(clip=True), mlp()),
        r"'minmaxscaler' \(MinMaxScaler\) clips",
    ),
    "step": (
        lambda: pipeline.make_pipeline(scalers.PolynomialFeatures(2), mlp()),
        r"'polynomialfeatures' of the Pipeline is a PolynomialFeatures; .* pipeline\[:-1\]",
    ),
    "no network": (
        lambda: pipeline.make_pipeline(scalers.StandardScaler(), linear.LinearRegression()),
        "'linearregression', is a LinearRegression; it must be an MLP",
    ),
    "target": (
        lambda: compose.TransformedTargetRegressor(mlp(), func=np.log1p, inverse_func=np.expm1),
        "sends its outputs back through a FunctionTransformer.*Audit its regressor_",
    ),
    "another": (linear.LinearRegression, "the model is a LinearRegression; of scikit-learn"),
    "search": (
        lambda: selection.GridSearchCV(mlp(), {"alpha": [1, 2]}, cv=2),
        "the model is a GridSearchCV; audit its best_estimator_",
    ),
    "tanh": (lambda: mlp(activation="tanh"), r"MLPRegressor \('tanh'\) is not homogeneous"),
}


@pytest.mark.parametrize(("make", "match"), REFUSED.values(), ids=REFUSED)
def test_what_else_there_is_is_refused_by_name(make, match):
    fitted = make().fit(WIDE, np.abs(WIDE[:, :2]))
    with pytest.raises(ModelError, match=match) as caught:
        model_of(fitted)
    assert "\n" not in str(caught.value)


def test_what_is_not_fitted_is_refused():
    for model in (networks.MLPRegressor(), PIPES["no target"](), PIPES["standard"]()):
        with pytest.raises(ModelError, match="is not fitted; call fit first"):
            model_of(model)


def test_a_subclass_that_predicts_something_else_is_refused():
    class Other(networks.MLPRegressor):  # type: ignore[name-defined]
        def predict(self, X):
            return -super().predict(X)

    fitted = Other(hidden_layer_sizes=(3,), max_iter=2).fit(X, X[:, 0])
    with pytest.raises(ModelError, match="the Other predicts something else than its coefs_"):
        model_of(fitted)


def test_the_slope_that_is_said_must_agree():
    fitted = mlp().fit(X, X[:, 0])
    with pytest.raises(ModelError, match=r"slope is said to be 0.5"):
        model_of(fitted, slope=0.5)
