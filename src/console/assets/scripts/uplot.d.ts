/// <reference types="uplot" />
/** The library leaves itself in the page as `uPlot`; its script stands before ours. */
