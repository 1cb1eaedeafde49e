import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

/** An image on the disk, with the name under which a browser would save it. */
export interface GivenImage {
  readonly path: string;
  readonly name: string;
  readonly contentType: string;
}

/** Streams an image; false, with nothing sent, when its file is gone. */
export async function giveImage(response: Response, image: GivenImage): Promise<boolean> {
  const file = await open(image.path, 'r').catch(() => null);
  if (!file) return false;
  try {
    await stream(response, image, file);
  } catch {
    // The client went away, or the disk failed after the answer began: a cut connection says so.
    response.destroy();
  } finally {
    await file.close().catch(() => {});
  }
  return true;
}

async function stream(response: Response, { name, contentType }: GivenImage, file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  response.status(200).set({
    'content-type': contentType,
    'content-length': String(size),
    'content-disposition': `inline; filename="${asciiName(name)}"; filename*=UTF-8''${encodedName(name)}`,
    // Personal data: no cache of a proxy or a browser keeps it.
    'cache-control': 'private, no-store',
  });
  await pipeline(file.createReadStream({ autoClose: false }), response);
}

/** For readers that do not know the encoded name. */
function asciiName(name: string): string {
  return name.replaceAll(/[^\w .()-]/g, '_');
}

/** RFC 8187. */
function encodedName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return `%${code.toString(16).toUpperCase()}`;
  });
}
