import { render } from 'preact';

const root = document.querySelector('#root');
if (root !== null) render(<h1>Inbox</h1>, root);
