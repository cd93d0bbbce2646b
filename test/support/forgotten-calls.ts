/**
 * Whether an error that nobody has handled is one: not what the MCP SDK says, a minute later, to the client of a test that has ended about a call that
 * nobody waits for any more.
 */
export function isUnhandled({ name, message }: { name?: string; message?: string }): boolean {
  return name !== 'SdkError' || message !== 'Request timed out';
}
