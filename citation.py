"""How to cite TSTBench: the entry of CITATION.cff in BibTeX, for the pages and the metrics."""

PAPER = "https://doi.org/10.3390/e27060575"
BIBTEX = """\
@article{xie2025tstbench,
  title = {TSTBench: A Comprehensive Benchmark for Text Style Transfer},
  author = {Xie, Yifei and Gui, Jiaping and Che, Zhengping and Zhu, Leqian and Hu, Yahao and
            Pan, Zhisong},
  journal = {Entropy},
  volume = {27},
  number = {6},
  pages = {575},
  year = {2025},
  doi = {10.3390/e27060575}
}
"""
