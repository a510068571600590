// What the sources of console/ keep to besides their types.
import js from '@eslint/js';

const BROWSER = ['AbortController', 'BroadcastChannel', 'Blob', 'CSS', 'Document', 'Event', 'EventTarget', 'FormData',
  'HashChangeEvent', 'HTMLElement',
  'Headers', 'Intl', 'ResizeObserver', 'Response', 'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams', 'addEventListener',
    'atob', 'btoa', 'clearInterval',
  'clearTimeout', 'crypto', 'customElements', 'dispatchEvent', 'document', 'fetch', 'getComputedStyle', 'history',
    'localStorage', 'location', 'matchMedia',
  'navigator', 'open', 'queueMicrotask', 'removeEventListener', 'requestAnimationFrame', 'sessionStorage',
    'setInterval', 'setTimeout', 'window'];

export default [
  { ignores: ['**/vendor/**', '**/*.d.ts'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: 'module', globals:
      Object.fromEntries(BROWSER.map((name) => [name, 'readonly'])) },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
      'max-len': ['error', { code: 120, tabWidth: 2 }],
      'no-restricted-properties': ['error', ...['innerHTML', 'outerHTML', 'insertAdjacentHTML',
        'write'].map((property) => ({ property,
        message: 'Text enters as text: by a template of lit.' }))],
      'no-control-regex': 'off',
    },
  },
];
