/** Images on the disk that console and workers share (below DATA_DIR). */

/** One file as it was taken in. */
export interface SpooledFile {
  /** Its name below the folder of what it belongs to. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** By its bytes; null when they are no image. */
  readonly contentType: string | null;
}

/** Files on their way in: nothing of them counts before `keep`. */
export interface Upload {
  /** Streams one file to the disk. Resolves once its last byte is there for good; rejects when the disk or the stream fails. */
  write(bytes: AsyncIterable<Uint8Array>): Promise<SpooledFile>;
  /** Gives the files their place, for good: the violation or the tow they belong to may name them from now on. */
  keep(place: SpoolPlace): Promise<void>;
  /** Removes what was written, unless it is kept. Never rejects. */
  discard(): Promise<void>;
  /** Removes what was written, kept or not: no record names it and none will. Never rejects. */
  takeBack(): Promise<void>;
}

/** A violation's images go to the service and then leave; a tow's photos stay. */
export type SpoolPlace =
  { readonly kind: 'violation'; readonly id: string } | { readonly kind: 'photos'; readonly towingReference: string };

/**
 * - shared: this process sees the disk that the others see.
 * - foreign: its DATA_DIR is another disk than the one in use.
 * - unusable: it cannot be written.
 */
export type SpoolState = 'shared' | 'foreign' | 'unusable';

/**
 * Redis held no records when it met a disk that was in use: it was emptied or not restored yet, or REDIS_URL names another
 * one. Images may still be needed whose records are missing.
 */
export interface SpoolAlarm {
  readonly sinceMs: number;
}

export interface Spool {
  state(): Promise<SpoolState>;
  /** Null when all is well. Rejects when Redis does not answer. */
  alarm(): Promise<SpoolAlarm | null>;
  /** Begins to take files in. */
  begin(): Promise<Upload>;
  /**
   * Where a kept file lies; null when it is not there, or not as long as it was. Rejects when the disk does not tell.
   */
  pathOf(place: SpoolPlace, kept: Pick<SpooledFile, 'file' | 'sizeBytes'>): Promise<string | null>;
  /** Removes all files of a violation. Doing it twice is doing it once. */
  drop(place: SpoolPlace): Promise<void>;
}
