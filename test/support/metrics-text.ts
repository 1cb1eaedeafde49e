/** A series of the text that `/metrics` answers. */
export interface ScrapedSeries {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ScrapedSample[];
}

interface ScrapedSample {
  /** Of a histogram, with `_bucket`, `_count` or `_sum`. */
  readonly name: string;
  /** But that of the installation, which all have. */
  readonly labels: Readonly<Record<string, string>>;
  readonly installation: string | undefined;
  readonly value: number;
}

/** Reads the text format of Prometheus. */
export function readMetricsText(text: string): ScrapedSeries[] {
  return text
    .split(/^# HELP /m)
    .slice(1)
    .map((block) => {
      const [head = '', types = '', ...lines] = block.split('\n');
      const end = head.indexOf(' ');
      const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(readSample);
      return { name: head.slice(0, end), type: types.split(' ').at(-1) ?? '', help: head.slice(end + 1), samples };
    });
}

function readSample(line: string): ScrapedSample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value] as const);
  const { installation, ...others }: Record<string, string> = Object.fromEntries(pairs);
  return { name, labels: others, installation, value: Number(value) };
}
