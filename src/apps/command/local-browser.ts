import { spawn } from 'node:child_process';
import type { CommandWorld } from './run-command.ts';

/** Checks whether this machine shows windows, as far as can be seen. */
export function hasDesktop(platform: string, env: CommandWorld['env']): boolean {
  const isAlways = platform === 'darwin' || platform === 'win32';
  return isAlways || Boolean(env['DISPLAY']) || Boolean(env['WAYLAND_DISPLAY']);
}

/** The program that opens an address in the browser of the user, and its arguments. No shell reads them. */
function findOpener(platform: string, url: string): [program: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

/** Opens an address of this command in the browser of the user. Other users of the machine may see the arguments of its program. */
export function openInBrowser(url: string, onError: (error: Error) => void): void {
  const [program, args] = findOpener(process.platform, url);
  const child = spawn(program, args, { detached: true, stdio: 'ignore' });
  child.once('error', onError);
  child.unref();
}
