import type { Browser } from 'playwright-core';

/** The same picture as WebP, which is a third of the size. */
export async function toWebp(png: Buffer, shown: Browser): Promise<Buffer> {
  const page = await shown.newPage();
  const url = await page.evaluate<string>(`new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = reject;
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext('2d').drawImage(image, 0, 0);
      resolve(canvas.toDataURL('image/webp', 0.85));
    };
    image.src = 'data:image/png;base64,${png.toString('base64')}';
  })`);
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}
