import type { ShownGroup, ShownPart, ShownRequest } from 'holdpoint/ui';

export function Part({ part }: { part: ShownPart | undefined }) {
  if (part?.type !== 'call') return part && <p>{part.text}</p>;
  const { name, request } = part;
  return (
    <section aria-label={name} ref={request?.ref} tabIndex={-1}>
      <p>{part.says}</p>
      <Details {...part} />
      {request && <Form request={request} />}
    </section>
  );
}

function Details({ text, lines, call }: Pick<ShownRequest, 'text' | 'lines' | 'call'>) {
  return (
    <>
      {[text, ...lines].map((line, index) => (
        <p key={index}>{line}</p>
      ))}
      {call && <pre style={{ whiteSpace: 'inherit' }}>{call}</pre>}
    </>
  );
}

/* No button submits the form, so that Enter in a field answers nothing. Keep that. */
function Form({ request }: { request: ShownRequest }) {
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      {request.fields.map(({ key, label, options, text, error, errorId }) => (
        <fieldset key={key}>
          <legend>{label}</legend>
          {options.map((option) => (
            <label key={option.id}>
              <input {...option.props} /> {option.label}
            </label>
          ))}
          {text && <textarea aria-label={text.label} {...text.props} />}
          <output id={errorId}>{error}</output>
        </fieldset>
      ))}
      {request.actions.map(({ name, label, run }) => (
        <button key={name} type="button" disabled={!request.isReady} onClick={run}>
          {label}
        </button>
      ))}
      {request.whyNot && <p>{request.whyNot}</p>}
      <p role="alert">{request.error}</p>
    </form>
  );
}

/* Similar requests are approved together once the end of the list, with each whole request, was on the screen. */
export function Group({ group: { name, requests, ref, ...group } }: { group: ShownGroup }) {
  return (
    <details>
      <summary>See all {name}</summary>
      <div tabIndex={0} style={{ maxHeight: '50vh', overflow: 'auto' }}>
        {requests.map((request) => (
          <Details key={request.requestId} {...request} />
        ))}
        <p ref={ref}>These are all {requests.length}.</p>
      </div>
      <button type="button" disabled={!group.isReady} onClick={group.approveAll}>
        Approve all {name}
      </button>
    </details>
  );
}
