// What eslint found, a line each, in tsc's form.
export default (results) => results.flatMap(({ filePath, messages }) => messages.map(
  ({ line, column, message, ruleId }) => `${filePath}(${line},${column}): ${message} (${ruleId})\n`)).join('');
