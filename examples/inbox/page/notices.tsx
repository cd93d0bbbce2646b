import type { useOfficeChat } from './use-office-chat.ts';

interface NoticesProps {
  /** Why an answer from the inbox was not recorded. */
  notice: string;
  chat: ReturnType<typeof useOfficeChat>;
  isConnected: boolean;
}

/** What went wrong, in words for the person, and what they can do. */
export function Notices({ notice, chat: { problem, tryAgain }, isConnected }: NoticesProps) {
  const isAway = problem?.type === 'away' || !isConnected;
  return (
    <div className="notices" role="alert">
      {notice !== '' && <p>{notice}</p>}
      {isAway && <p>The server can't be reached. Trying again …</p>}
      {problem?.type === 'refused' && <p>{problem.text}</p>}
      {problem?.type === 'failed' && (
        <p>
          {problem.text}{' '}
          <button type="button" className="quiet" onClick={() => void tryAgain()}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
