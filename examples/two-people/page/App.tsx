import { useThreadChat } from 'holdpoint/react';
import { useSyncExternalStore } from 'react';
import { Group, Part } from './Part.tsx';

export default function App() {
  const id = useSyncExternalStore(onHashChange, threadId);
  const chat = useThreadChat({ id, api: '/chat' });
  const { composer, notice } = chat;
  return (
    <main style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      <h1>Flights</h1>
      <div role="log" aria-label="Conversation" aria-busy={chat.isBusy}>
        {chat.isLoaded && chat.messages.length === 0 && <p>Where would you like to fly?</p>}
        {chat.messages.map((message) => (
          <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
            {message.parts.map((part, index) => (
              <Part key={index} part={chat.show(part)} />
            ))}
          </article>
        ))}
      </div>
      {chat.groups.map((group) => (
        <Group key={group.key} group={group} />
      ))}
      {notice && <p role="alert">{notice.text}</p>}
      {notice?.type === 'failed' && <Action label="Try again" run={chat.tryAgain} />}
      {chat.isHeld && <Action label="Resume what was approved" run={chat.resume} />}
      <form onSubmit={composer.submit}>
        <input aria-label="Message" {...composer.props} />
        <button type="submit" disabled={!composer.canSend}>
          Send
        </button>
        {chat.isBusy && <Action label="Stop" run={chat.stop} />}
      </form>
    </main>
  );
}

const Action = ({ label, run }: { label: string; run: () => Promise<void> }) => (
  <button type="button" onClick={() => void run()}>
    {label}
  </button>
);

const threadId = () => (location.hash ||= `#${crypto.randomUUID()}`).slice(1);

function onHashChange(listener: () => void) {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
