import type { SessionGrants } from './grant-store.ts';
import type { ServedCall, SessionPermission } from './tool-server-options.ts';

const choices = ['Yes for session', 'Yes once', 'No'] as const;

/** `askForSession` of one call: the least that can be permitted is asked for, and no is where nothing is picked. */
export function sessionAsker(
  askUser: ServedCall['askUser'],
  grants: SessionGrants,
): ServedCall['askForSession'] {
  return function askForSession(permission) {
    const answer = ask(permission);
    /* A tool that ends before it looks at the answer must not end the process. */
    answer.catch(() => {});
    return answer;
  };

  async function ask({ prompt, key }: SessionPermission): Promise<boolean> {
    if (await grants.get(key)) return true;
    const { label } = await askUser({ prompt, choices, default: choices.indexOf('No') });
    if (label === 'Yes for session') await grants.set(key);
    return label === 'Yes for session' || label === 'Yes once';
  }
}
