import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import fs from "fs";
const [kind, ...rest] = process.argv.slice(2);
const c = new Client({name:"ts-check",version:"1"});
let t;
if (kind === "stdio") t = new StdioClientTransport({command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit"});
else t = new StreamableHTTPClientTransport(new URL(rest[0]), {requestInit:{headers:{Authorization:`Bearer ${rest[1]}`}}});
await c.connect(t);
const out = {};
out.list = (await c.listTools()).tools.map(x => x.name);
out.templates = (await c.listResourceTemplates()).resourceTemplates.length;
const steps = [];
const q = {name:"research", arguments:{question:"When was Hesk Light first lit?"}};
const r = await c.callTool(q, undefined, {onprogress: p => steps.push(p.message), timeout: 120000, resetTimeoutOnProgress: true});
out.answer = r.structuredContent.answer; out.steps = steps.length; out.confidence = r.structuredContent.confidence;
const link = r.content.find(x => x.type === "resource_link");
out.resource = (await c.readResource({uri: link.uri})).contents[0].text.split("\n")[0];
const bad = await c.callTool({name:"research", arguments:{question:"x y", since:"soon"}});
out.error = [bad.isError, bad.content[0].text.split("\n")[0]];
try { await c.callTool({name:"nope", arguments:{}}).then(r => out.unknown = [r.isError, r.content[0].text]); } catch (e) { out.unknown = e.message; }
try { await c.readResource({uri:"research://runs/nope/report.md"}); } catch (e) { out.missing = e.message; }
const stop = new AbortController();
const cut = c.callTool(q, undefined, {signal: stop.signal, onprogress: p => { if (p.progress >= 1) stop.abort("enough"); }, timeout: 120000});
try { await cut; out.cancel = "not cancelled"; } catch (e) { out.cancel = String(e.message ?? e); }
const after = await c.callTool({name:"search", arguments:{query:"Hesk Light"}});
out.after = !after.isError;
console.log(JSON.stringify(out, null, 1));
await c.close();
