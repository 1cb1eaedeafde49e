import type { FileHandle } from 'node:fs/promises';

/** Bytes with a buffer of their own: the reader of headers looks past the end of what is part of a larger one. */
export async function bytesAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  return bytesRead === length ? bytes : bytes.slice(0, bytesRead);
}
