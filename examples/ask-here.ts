import { HoldpointError, inertText, type UserInputRequestContent } from 'holdpoint';
import { askInTerminal, type AskOptions } from 'holdpoint/terminal';

/** Asks at the terminal. Where there is none, it prints why nobody is asked and returns no answers; the requests are kept. */
export async function askHere(
  requests: readonly UserInputRequestContent[],
  options: AskOptions = {},
): ReturnType<typeof askInTerminal> {
  try {
    return await askInTerminal(requests, { onLeave: 'keep', ...options });
  } catch (error) {
    if (!HoldpointError.isInstance(error) || error.code !== 'not-allowed') throw error;
    console.log(inertText(error.message));
    return [];
  }
}
