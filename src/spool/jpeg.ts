import { BLOCK_BYTES, bytesAt, type StoredBytes } from './image-end';

/**
 * Detects JPEGs of which a part is missing, by their structure and the blocks that their scans have. Blocks are counted
 * and not turned into pixels: a full decoder in JavaScript holds the event loop for seconds and takes half a gigabyte.
 */

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
const HUFFMAN_TABLES = 0xc4;
const RESTART_INTERVAL = 0xdd;
/** The marker of the segment with which the image data of a JPEG begins. */
export const START_OF_SCAN = 0xda;
/** Markers of the JPEG segments that have the image size. */
export const JPEG_SIZES = [0xc0, 0xc1, 0xc2];
const PROGRESSIVE = 0xc2;

const WALKED = [...JPEG_SIZES, HUFFMAN_TABLES, RESTART_INTERVAL, START_OF_SCAN, START_OF_IMAGE, END_OF_IMAGE];
/** Far more than cameras and programs write. */
const SEGMENTS_MAX = 2000;
/** Marker and length of a JPEG segment. */
const SEGMENT_HEAD_BYTES = 4;

/**
 * True when all scans of a JPEG are complete. The end marker is needed only where that cannot be counted: in the scans of
 * a progressive image.
 */
export async function isJpegWhole(file: StoredBytes, sizeBytes: number): Promise<boolean> {
  const image = new JpegImage();
  let at = 2;
  for (let count = 0; count < SEGMENTS_MAX; count += 1) {
    const segmentAt = await jpegSegmentAt(file, sizeBytes, WALKED, at);
    if (segmentAt === null) return image.hasAll(false);
    const segment = await segmentOf(file, segmentAt);
    if (segment.marker === START_OF_IMAGE || segment.marker === END_OF_IMAGE) {
      return image.hasAll(segment.marker === END_OF_IMAGE);
    }
    at = segmentAt + SEGMENT_HEAD_BYTES + segment.content.length;
    image.read(segment);
    if (segment.marker !== START_OF_SCAN) continue;
    const scan = image.scanOf(segment.content);
    at = await endOfScan(file, { at, sizeBytes }, scan);
    if (!scan.isComplete) return false;
  }
  return false;
}

interface Segment {
  readonly marker: number;
  /** What follows its length; shorter where the file ends. */
  readonly content: Uint8Array;
}

async function segmentOf(file: StoredBytes, at: number): Promise<Segment> {
  const [, marker = 0, high = 0, low = 0] = await bytesAt(file, at, SEGMENT_HEAD_BYTES);
  if (marker === START_OF_IMAGE || marker === END_OF_IMAGE) return { marker, content: new Uint8Array() };
  return { marker, content: await bytesAt(file, at + SEGMENT_HEAD_BYTES, Math.max(0, high * 256 + low - 2)) };
}

/**
 * The position of the first segment of a JPEG that has one of the markers; null without one. Other segments, such as
 * previews, are skipped by their lengths.
 */
export async function jpegSegmentAt(
  file: StoredBytes,
  sizeBytes: number,
  markers: readonly number[],
  from = 2,
): Promise<number | null> {
  let at = from;
  while (at + 2 <= sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    const numbers = new DataView(block.buffer, block.byteOffset, block.length);
    let next = 0;
    while (next + 2 <= block.length) {
      const first = numbers.getUint8(next);
      const mark = numbers.getUint8(next + 1);
      if (first === 0xff && markers.includes(mark)) return at + next;
      if (first !== 0xff || mark === 0 || mark === 0xff) next += 1;
      else if (hasNoLength(mark)) next += 2;
      else if (next + SEGMENT_HEAD_BYTES > block.length) break;
      else next += 2 + numbers.getUint16(next + 2);
    }
    if (next === 0) return null;
    at += next;
  }
  return null;
}

function hasNoLength(mark: number): boolean {
  return mark === 0x01 || (mark >= 0xd0 && mark <= 0xd9);
}

/** Gives the image data of a scan to its count. Returns the position of the marker that ends the scan. */
async function endOfScan(
  file: StoredBytes,
  { at: from, sizeBytes }: { readonly at: number; readonly sizeBytes: number },
  scan: Scan,
): Promise<number> {
  let at = from;
  while (at < sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    let next = 0;
    while (next < block.length) {
      const byte = block[next] ?? 0;
      const mark = block[next + 1];
      if (byte !== 0xff) scan.add(byte);
      else if (mark === undefined) break;
      else if (mark === 0) scan.add(byte);
      else if (mark >= 0xd0 && mark <= 0xd7) scan.restart();
      else if (mark !== 0xff) {
        scan.count(true);
        return at + next;
      }
      next += byte === 0xff && mark !== 0xff ? 2 : 1;
    }
    scan.count(false);
    // A last byte 0xff ends the file.
    if (next === 0) break;
    at += next;
  }
  scan.count(true);
  return sizeBytes;
}

interface Component {
  readonly horizontal: number;
  readonly vertical: number;
  /** How many low bits of each coefficient have not come yet; -1 where it has not come at all. */
  readonly bitsLeft: Int8Array;
}

/** What the segments of a JPEG have said so far. */
class JpegImage {
  readonly #components = new Map<number, Component>();
  readonly #tables = new Map<number, HuffmanTable>();
  #isProgressive = false;
  #width = 0;
  #height = 0;
  #restartInterval = 0;

  read({ marker, content }: Segment): void {
    if (marker === HUFFMAN_TABLES) this.#readTables(content);
    else if (marker === RESTART_INTERVAL) this.#restartInterval = wordAt(content, 0);
    else if (JPEG_SIZES.includes(marker)) this.#readSize(marker, content);
  }

  /** True when every part of each component has come. */
  hasAll(hasEnd: boolean): boolean {
    const all = [...this.#components.values()];
    const isComplete = all.length > 0 && all.every(({ bitsLeft }) => bitsLeft.every((bits) => bits === 0));
    return isComplete && (hasEnd || !this.#isProgressive);
  }

  /** The scan that begins. That of a progressive image is not counted: its blocks build on earlier scans. */
  scanOf(content: Uint8Array): Scan {
    const count = content[0] ?? 0;
    const [first = 0, last = 0, bits = 0] = content.subarray(1 + 2 * count);
    const units: Unit[] = [];
    const own: Component[] = [];
    for (let at = 1; at < 1 + 2 * count; at += 2) {
      const component = this.#components.get(content[at] ?? 0);
      const tables = content[at + 1] ?? 0;
      if (!component) return new Scan([], { mcus: 1, restartInterval: 0 });
      component.bitsLeft.fill(bits & 15, first, Math.min(last, 63) + 1);
      const unit = { dc: this.#tables.get(tables >> 4), ac: this.#tables.get(16 + (tables & 15)) };
      const blocks = count === 1 ? 1 : component.horizontal * component.vertical;
      for (let block = 0; block < blocks; block += 1) units.push(unit);
      own.push(component);
    }
    const mcus = this.#isProgressive ? 0 : this.#mcus(own);
    return new Scan(units, { mcus, restartInterval: this.#restartInterval });
  }

  /** The number of minimum coded units of a scan: single blocks if it has one component. */
  #mcus(own: readonly Component[]): number {
    const all = [...this.#components.values()];
    const horizontal = Math.max(...all.map((each) => each.horizontal));
    const vertical = Math.max(...all.map((each) => each.vertical));
    const [only] = own;
    if (own.length > 1 || !only) {
      return Math.ceil(this.#width / (8 * horizontal)) * Math.ceil(this.#height / (8 * vertical));
    }
    const columns = Math.ceil(Math.ceil((this.#width * only.horizontal) / horizontal) / 8);
    return columns * Math.ceil(Math.ceil((this.#height * only.vertical) / vertical) / 8);
  }

  #readSize(marker: number, content: Uint8Array): void {
    this.#isProgressive = marker === PROGRESSIVE;
    this.#height = wordAt(content, 1);
    this.#width = wordAt(content, 3);
    this.#components.clear();
    for (let at = 6; at + 3 <= Math.min(content.length, 6 + 3 * (content[5] ?? 0)); at += 3) {
      const factors = content[at + 1] ?? 0;
      this.#components.set(content[at] ?? 0, {
        // As of the standard, 1 to 4.
        horizontal: Math.min(Math.max(factors >> 4, 1), 4),
        vertical: Math.min(Math.max(factors & 15, 1), 4),
        bitsLeft: new Int8Array(64).fill(-1),
      });
    }
  }

  #readTables(content: Uint8Array): void {
    let at = 0;
    while (at + 17 <= content.length) {
      const lengths = content.subarray(at + 1, at + 17);
      const size = lengths.reduce((sum, count) => sum + count, 0);
      this.#tables.set(content[at] ?? 0, new HuffmanTable(lengths, content.subarray(at + 17, at + 17 + size)));
      at += 17 + size;
    }
  }
}

function wordAt(content: Uint8Array, at: number): number {
  return (content[at] ?? 0) * 256 + (content[at + 1] ?? 0);
}

class HuffmanTable {
  /** By length of code: the first 16 bits above all codes of this length, and what to add to a code to get its place. */
  readonly #limits = new Int32Array(17);
  readonly #places = new Int32Array(17);

  constructor(
    lengths: Uint8Array,
    private readonly values: Uint8Array,
  ) {
    let code = 0;
    let place = 0;
    for (const [index, count] of lengths.entries()) {
      const bits = index + 1;
      this.#places[bits] = place - code;
      code += count;
      place += count;
      this.#limits[bits] = code << (16 - bits);
      code <<= 1;
    }
  }

  /** The symbol that 16 bits begin with, times 32, and the length of its code; -1 without one. */
  find(bits: number): number {
    for (let length = 1; length <= 16; length += 1) {
      if (bits >= (this.#limits[length] ?? 0)) continue;
      const value = this.values[(bits >> (16 - length)) + (this.#places[length] ?? 0)];
      return value === undefined ? -1 : value * 32 + length;
    }
    return -1;
  }
}

/** A block of an MCU with the tables of its component. */
interface Unit {
  readonly dc: HuffmanTable | undefined;
  readonly ac: HuffmanTable | undefined;
}

/** More than any block takes. */
const BLOCK_OF_SCAN_BYTES = 512;

/** Counts the blocks in the image data of a scan. */
class Scan {
  #bytes = new Uint8Array(2 * BLOCK_BYTES);
  #length = 0;
  #bit = 0;
  #unit = 0;
  #mcusLeft: number;
  #untilRestart: number;
  readonly #restartInterval: number;

  constructor(
    private readonly units: readonly Unit[],
    { mcus, restartInterval }: { readonly mcus: number; readonly restartInterval: number },
  ) {
    this.#mcusLeft = mcus;
    this.#restartInterval = restartInterval === 0 ? Infinity : restartInterval;
    this.#untilRestart = this.#restartInterval;
  }

  get isComplete(): boolean {
    return this.#mcusLeft === 0;
  }

  /** Adds a byte of image data. At most a block of the file is added between two calls of `count`. */
  add(byte: number): void {
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Each restart marker comes after its number of MCUs. A scan that lacks some stays incomplete. */
  restart(): void {
    this.count(true);
    this.#length = 0;
    this.#bit = 0;
    if (this.#untilRestart === 0) this.#untilRestart = this.#restartInterval;
  }

  /** Counts what is there: all blocks `isLast`, else those that are surely whole. */
  count(isLast: boolean): void {
    const bytesNeeded = isLast ? -Infinity : BLOCK_OF_SCAN_BYTES;
    while (this.#isOpen && this.#length - (this.#bit >> 3) >= bytesNeeded) {
      if (!this.#skipBlock()) {
        // What follows a fault is not counted.
        this.#untilRestart = -1;
        break;
      }
      this.#unit = (this.#unit + 1) % this.units.length;
      if (this.#unit > 0) continue;
      this.#mcusLeft -= 1;
      this.#untilRestart -= 1;
    }
    const used = this.#isOpen ? this.#bit >> 3 : this.#length;
    this.#bytes.copyWithin(0, used, this.#length);
    this.#length -= used;
    this.#bit = this.#isOpen ? this.#bit & 7 : 0;
  }

  get #isOpen(): boolean {
    return this.#mcusLeft > 0 && this.#untilRestart > 0 && this.units.length > 0;
  }

  #skipBlock(): boolean {
    const { dc, ac } = this.units[this.#unit] ?? {};
    if (!dc || !ac) return false;
    const bits = this.#symbol(dc);
    if (bits < 0) return false;
    this.#bit += bits;
    for (let at = 1; at < 64; at += 1) {
      const symbol = this.#symbol(ac);
      if (symbol < 0) return false;
      if (symbol === 0) break;
      at += symbol >> 4;
      this.#bit += symbol & 15;
    }
    return this.#bit <= 8 * this.#length;
  }

  /** The next symbol; -1 without one. */
  #symbol(table: HuffmanTable): number {
    const bytes = this.#bytes;
    const at = this.#bit >> 3;
    const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const found = table.find((three >> (8 - (this.#bit & 7))) & 0xffff);
    if (found < 0) return -1;
    this.#bit += found & 31;
    return found >> 5;
  }
}
