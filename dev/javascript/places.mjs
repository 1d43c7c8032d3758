// An eslint formatter that prints one problem per line, in tsc's format.
export default (results) => results.flatMap(({ filePath, messages }) => messages.map(
  ({ line, column, message, ruleId }) => `${filePath}(${line},${column}): ${message} (${ruleId})\n`)).join('');
