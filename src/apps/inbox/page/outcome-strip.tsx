import type { Inbox } from './inbox.ts';

/**
 * The outcome of the last answer, and arrivals: the only region that a screen reader announces. Its height is fixed, so that nothing moves.
 */
export function OutcomeStrip({ inbox, arrivals }: { inbox: Inbox; arrivals: string }) {
  return (
    <div class="outcome">
      <p role="status" aria-atomic="false">
        <span>{inbox.answering.message}</span> <span>{arrivals}</span>
      </p>
    </div>
  );
}
