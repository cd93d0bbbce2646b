import type { Caller } from './callers.ts';
import type { OwnedCall } from './running-calls.ts';
import type {
  GrantStore,
  ServedCall,
  SessionGrants,
  SessionPermission,
} from './tool-server-options.ts';

/** The grants of one user in one conversation, so that a tool can't use those of another by mistake. */
export function makeSessionGrants(
  store: GrantStore,
  { caller, user, groupId }: Pick<OwnedCall, 'caller' | 'user' | 'groupId'>,
): SessionGrants {
  const conversation = makeConversationKey(caller, groupId);
  const makeUserKey = (key: string): string => JSON.stringify([user, key]);
  return {
    async get(key) {
      const granted: unknown = await store.get(conversation, makeUserKey(key));
      return granted === true;
    },
    set: async (key) => {
      await store.set(conversation, makeUserKey(key));
    },
  };
}

const sessionChoices = ['Yes for session', 'Yes once', 'No'] as const;

/** Creates `askForSession` for one call. The default is `No`. */
export function makeSessionAsker(
  askUser: ServedCall['askUser'],
  grants: SessionGrants,
): ServedCall['askForSession'] {
  return function askForSession(permission) {
    const answer = requestPermission(permission);
    /* A tool may end without awaiting the answer: an unhandled rejection would end the process. */
    answer.catch(() => {});
    return answer;
  };

  async function requestPermission({ prompt, key }: SessionPermission): Promise<boolean> {
    if (await grants.get(key)) return true;
    const { label } = await askUser({
      prompt,
      choices: sessionChoices,
      default: sessionChoices.indexOf('No'),
    });
    if (label === 'Yes for session') await grants.set(key);
    return label === 'Yes for session' || label === 'Yes once';
  }
}

/** The text that names a caller's conversation in a store of grants. */
export function makeConversationKey({ id }: Caller, groupId: string): string {
  return JSON.stringify([id, groupId]);
}

/** Keeps grants in memory. Above `maximum`, the oldest is deleted and must be granted again. */
export function memoryGrants(maximum = 10_000): GrantStore {
  const grants = new Map<string, string>();
  return {
    get: (conversation, key) => grants.has(makeGrantKey(conversation, key)),
    set(conversation, key) {
      grants.set(makeGrantKey(conversation, key), conversation);
      const [oldest] = grants.keys();
      if (grants.size > maximum && oldest !== undefined) grants.delete(oldest);
    },
    clear(conversation) {
      for (const [name, itsOwn] of grants) if (itsOwn === conversation) grants.delete(name);
    },
  };
}

function makeGrantKey(conversation: string, key: string): string {
  return JSON.stringify([conversation, key]);
}
