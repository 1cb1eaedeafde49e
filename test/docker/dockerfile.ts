/** One instruction of a Dockerfile, its continuation lines joined. */
export interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** One `FROM` and what follows it. */
export interface BuildStage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Reads the instructions as the builder does: comment lines dropped, lines that end in a backslash joined. */
export function readDockerfile(text: string): BuildStage[] {
  const joined = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n/g, '');
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const line of joined.split('\n').filter((item) => item.trim() !== '')) {
    const [, name = '', value = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    const from = name === 'FROM' ? /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(value) : null;
    if (from !== null) stages.push({ name: from[2] ?? '', base: from[1] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, value });
  }
  return stages;
}

/** The values of all instructions of this name. */
export function valuesOf(stage: BuildStage, name: string): string[] {
  return stage.instructions.filter((instruction) => instruction.name === name).map(({ value }) => value);
}

/** A `COPY`: from another stage, or from the project. */
export function readCopy(value: string): { stage: string | null; sources: readonly string[] } {
  const words = value.split(/\s+/);
  const flag = words.find((word) => word.startsWith('--from='));
  const paths = words.filter((word) => !word.startsWith('--'));
  return { stage: flag?.slice('--from='.length) ?? null, sources: paths.slice(0, -1) };
}
