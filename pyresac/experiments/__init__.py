"""The paper's tables and figures, one module each: `python -m pyresac.experiments list | plan | run | report`."""
