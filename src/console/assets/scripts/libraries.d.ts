/// <reference types="uplot" />
// The libraries define globals: htmx, uPlot as `uPlot`, and idiomorph for the htmx extension `morph`.

declare const htmx: { process(element: Element): void };

declare const Idiomorph: {
  readonly defaults: { readonly callbacks: Record<string, (first: unknown, second: unknown) => boolean> };
};
