/** Something in the archive is not as it was written; no crash does that. Names the file and the batch in it, from 1. */
export class ArchiveBroken extends Error {
  constructor(
    readonly file: string,
    readonly batch: number,
    readonly problem: string,
  ) {
    super(`${file}: batch ${batch} ${problem}`);
    this.name = 'ArchiveBroken';
  }
}
