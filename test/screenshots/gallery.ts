import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Picture } from './pages';

/** Writes docs/console.md: every page with its pictures, in the order of the list. */
export async function writeGallery(folder: string, pictures: readonly Picture[]): Promise<void> {
  const entries = pictures.flatMap(({ name, about }) => {
    const picture = (language: string, theme: string, words: string) =>
      `<img src="screenshots/${name}.${language}.${theme}.webp" alt="${about}: ${words}" width="49%">`;
    return [
      `## ${about}`,
      '',
      [
        picture('en', 'light', 'English, light'),
        picture('en', 'dark', 'English, dark'),
        picture('ar', 'light', 'Arabic, light'),
        picture('ar', 'dark', 'Arabic, dark'),
      ].join(' '),
      '',
    ];
  });
  const text = [
    '# The console, page by page',
    '',
    'Made by `npm run screenshots`: a day played against the bundled simulator.',
    '',
    ...entries,
  ];
  await writeFile(join(folder, 'console.md'), `${text.join('\n').trimEnd()}\n`);
}
