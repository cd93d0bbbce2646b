import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';
const run = promisify(execFile);

/** Finds a Chromium to test with, and installs Debian's if there is none. Otherwise the reason why there is none. */
export async function findChromium(): Promise<{ whyNot?: string }> {
  if (existsSync(executablePath)) return {};
  if (!existsSync('/usr/bin/apt-get')) return { whyNot: `no ${executablePath}, and no apt-get` };
  if (process.getuid?.() !== 0)
    return { whyNot: `no ${executablePath}, and not root to install it` };
  try {
    /* Where the lists of packages are old, what they name is not there any more. */
    await install().catch(async () => {
      await run('apt-get', ['update']);
      await install();
    });
    return {};
  } catch (error) {
    return { whyNot: `apt-get could not install chromium: ${String(error).slice(0, 300)}` };
  }
}

/** A headless Chromium with a new, empty profile, which makes no requests unless a test does. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

async function install(): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  await run('apt-get', ['install', ...options, 'chromium'], { env, maxBuffer: 2 ** 26 });
}
