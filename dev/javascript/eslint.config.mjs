import js from '@eslint/js';

export default [js.configs.recommended, {
  languageOptions: { ecmaVersion: 2023, sourceType: 'script' },
  rules: {
    'no-undef': 'off', // the type checker knows the DOM
    'eqeqeq': ['error', 'always', { null: 'ignore' }],
    'no-var': 'error',
    'prefer-const': 'error',
    'no-unused-vars': ['error', { caughtErrors: 'none' }],
  },
}];
