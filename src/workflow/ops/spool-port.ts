import type { Readable } from 'node:stream';

/** Images on the disk below DATA_DIR that console and workers share. */

/** A stored file. */
export interface SpooledFile {
  /** File name in the folder of its owner. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Detected from its bytes; null when they are no image. */
  readonly contentType: string | null;
  /** A part of the image is missing. */
  readonly isDamaged?: boolean;
}

/** An upload in progress: its files do not count before `keep`. */
export interface Upload {
  /** Streams one file to disk. Resolves once it is safely stored; rejects when disk or stream fails. */
  write(bytes: AsyncIterable<Uint8Array>): Promise<SpooledFile>;
  /** Moves the files to their final place: records may name them from now on. */
  keep(place: SpoolPlace): Promise<void>;
  /** Removes the files unless they are kept. Never rejects. */
  discard(): Promise<void>;
  /** Removes the files, kept or not, because no record will name them. Never rejects. */
  takeBack(): Promise<void>;
}

/** The bytes of an image: a file, or a stream that is opened for each reading. */
export type ImageSource = { readonly path: string } | { readonly open: () => Readable };

/** Images of a violation are removed once the service has them; photos of a tow stay. */
export type SpoolPlace =
  | { readonly kind: 'violation'; readonly id: string }
  | { readonly kind: 'photos'; readonly towingReference: string };

/**
 * - shared: this process sees the disk that the others see.
 * - foreign: its DATA_DIR is another disk than the one in use.
 * - unusable: not writable.
 */
export type SpoolState = 'shared' | 'foreign' | 'unusable';

/**
 * Redis was empty when it met a disk in use: it was emptied or not restored yet, or REDIS_URL names another one. The
 * images may belong to missing records.
 */
export interface SpoolAlarm {
  readonly sinceMs: number;
}

export interface Spool {
  state(): Promise<SpoolState>;
  /** Why the last `state` was `unusable`; null for another one. */
  problem(): string | null;
  /** Null when all is well. Rejects when Redis does not answer. */
  alarm(): Promise<SpoolAlarm | null>;
  /** Starts an upload. */
  begin(): Promise<Upload>;
  /** The path of a kept file; null when it is missing or has another length. Rejects when the disk fails. */
  pathOf(place: SpoolPlace, kept: Pick<SpooledFile, 'file' | 'sizeBytes'>): Promise<string | null>;
  /**
   * As `pathOf`, to be read; null also when it was changed. Rejects also when a data key is missing, and at once while an
   * earlier call hangs.
   */
  sourceOf(place: SpoolPlace, kept: Pick<SpooledFile, 'file' | 'sizeBytes'>): Promise<ImageSource | null>;
  /** Removes all files of a place. Idempotent. */
  drop(place: SpoolPlace): Promise<void>;
}
