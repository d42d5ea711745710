"""Fitted networks of scikit-learn, against what they predict."""

import numpy as np
import pytest
import torch

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading import model_of

networks = pytest.importorskip("sklearn.neural_network", reason="compares with scikit-learn")
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


def test_what_is_refused():
    with pytest.raises(ModelError, match="MLPRegressor is not fitted"):
        model_of(networks.MLPRegressor())
    fitted = networks.MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", max_iter=2).fit(
        X, X[:, 0]
    )
    with pytest.raises(ModelError, match=r"activation 'tanh'; it must be 'relu' or 'identity'"):
        model_of(fitted)
    with pytest.raises(ModelError, match=r"slope is said to be 0.5"):
        model_of(
            networks.MLPRegressor(hidden_layer_sizes=(3,), max_iter=2).fit(X, X[:, 0]), slope=0.5
        )
