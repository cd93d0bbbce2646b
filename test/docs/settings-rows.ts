import { pagesAt } from './markdown-page.ts';

/** The settings that the rows of a page begin with, and the row's other cells. */
export function readSettingRows(place: string, after = '') {
  const [page] = pagesAt(place);
  const text = page?.text ?? '';
  return text
    .slice(text.indexOf(after))
    .split('\n')
    .flatMap((line) => {
      const [, setting = '', where = '', second = ''] = line.split('|').map((cell) => cell.trim());
      return setting.startsWith('`')
        ? [...setting.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ name, where, second }))
        : [];
    });
}
