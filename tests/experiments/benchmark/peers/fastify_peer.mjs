// The work on Fastify over the official driver for Node: `node fastify_peer.mjs PORT`.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// the packages are where the bench installed them, not beside this file
const require = createRequire(`${process.env.BENCH_MODULES}/`)
const Fastify = require('fastify')
const { MongoClient, ObjectId, Decimal128 } = require('mongodb')
const { createVerifier, createSigner } = require('fast-jwt')
const bcrypt = require('@node-rs/bcrypt')

const WORLD = JSON.parse(readFileSync(process.env.BENCH_WORLD, 'utf8'))
const client = new MongoClient(WORLD.uri, { w: 'majority', readConcernLevel: 'majority', maxPoolSize: 100 })
await client.connect()
const database = client.db(WORLD.database)
const verify = createVerifier({ key: WORLD.secret, algorithms: ['HS256'] })
const sign = createSigner({ key: WORLD.secret, algorithm: 'HS256' })

class Refused extends Error {
  constructor(status, code) {
    super(String(code))
    this.statusCode = status
    this.code = code
  }
}

async function loadPeople() {
  const roles = new Map()
  const everywhere = new Set()
  for await (const role of database.collection('rbac_roles').find({ deleted: false })) {
    roles.set(role._id, new Set())
    if (role.data_scope === 'all') everywhere.add(role._id)
  }
  for await (const menu of database.collection('rbac_menus').find({ deleted: false })) {
    for (const id of menu.role_ids ?? []) {
      for (const api of menu.apis ?? []) roles.get(id)?.add(`${api.method} ${api.path}`)
    }
  }
  const below = new Map()
  for await (const one of database.collection('rbac_departments').find({ deleted: false })) {
    for (const ancestor of [...(one.ancestors ?? []), one._id]) {
      if (!below.has(ancestor)) below.set(ancestor, [])
      below.get(ancestor).push(one._id)
    }
  }
  const people = new Map()
  for await (const user of database.collection('rbac_users').find()) {
    const apis = new Set((user.role_ids ?? []).flatMap(id => [...(roles.get(id) ?? [])]))
    const isSuper = Boolean(user.is_super) || user._id === 1
    const everything = isSuper || (user.role_ids ?? []).some(id => everywhere.has(id))
    const departments = (below.get(user.department_id) ?? []).sort((a, b) => a - b)
    people.set(user._id, { id: user._id, department: user.department_id, apis, isSuper, everything, departments })
  }
  return people
}

const people = await loadPeople()

function person(request, entry) {
  const header = request.headers.authorization
  if (!header?.startsWith('Bearer ')) throw new Refused(401, 40100)
  let claims
  try {
    claims = verify(header.slice(7))
  } catch (error) {
    throw new Refused(401, error.code === 'FAST_JWT_EXPIRED' ? 40101 : 40100)
  }
  const found = people.get(claims.user_id)
  if (!found) throw new Refused(401, 40100)
  if (!found.isSuper && !found.apis.has(entry)) throw new Refused(403, 40300)
  return found
}

const guarded = entry => async request => { request.person = person(request, entry) }

function rows(person) {
  if (person.everything) return { deleted: false }
  const seen = [{ creator_department_id: { $in: person.departments } }, { shared_with: person.id }]
  return { $and: [{ deleted: false }, { $or: seen }] }
}

function value(given) {
  return given === undefined ? null : given instanceof Decimal128 ? given.toString() : given
}

function wire(row, fields) {
  const record = {}
  for (const name of fields) record[name] = value(name === 'id' ? row._id : row[name])
  return record
}

const ok = data => ({ code: 0, msg: '成功', data })
const nullable = rules => ({ ...rules, type: [rules.type, 'null'] })
const recordBody = {
  type: 'object', additionalProperties: false, required: ['name', 'code'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
    code: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Z0-9-]+$' },
    industry: nullable({ type: 'string', maxLength: 64 }),
    level: { type: ['string', 'null'], enum: ['A', 'B', 'C', null] },
    source: nullable({ type: 'string', maxLength: 64 }),
    phone: nullable({ type: 'string', maxLength: 50, pattern: '^[0-9 +-]*$' }),
    email: nullable({ type: 'string', maxLength: 200, format: 'email' }),
    website: nullable({ type: 'string', maxLength: 300 }),
    address: nullable({ type: 'string', maxLength: 500 }),
    amount: nullable({ type: 'string', pattern: '^[0-9]{1,15}(\\.[0-9]{1,2})?$' }),
    tags: { type: 'array', maxItems: 50, items: { type: 'string', maxLength: 50 } },
    remark: nullable({ type: 'string', maxLength: 2000 }),
  },
}
const page = {
  type: 'object', additionalProperties: false,
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 1, maximum: 200, default: 20 },
  },
}
const days = { type: 'object', properties: { days: { type: 'integer', minimum: 1, maximum: 366, default: 30 } } }

const app = Fastify({ logger: false, ajv: { customOptions: { coerceTypes: 'array', removeAdditional: false, allowUnionTypes: true } } })
app.decorateRequest('person', null)
app.setErrorHandler((error, request, reply) => {
  const code = error instanceof Refused ? error.code : error.validation ? 40001 : 50000
  reply.code(error.validation ? 400 : error.statusCode ?? 500).send({ code, msg: '失败', data: null })
})

app.get('/api/health', async () => ok({ status: 'ok' }))

app.get('/api/v1/bench/ping', { onRequest: guarded('GET /api/v1/bench/ping') }, async () => ok({ status: 'ok' }))

const projection = Object.fromEntries(WORLD.customer_fields.filter(name => name !== 'id').map(name => [name, 1]))
const customers = database.collection('crm_customers')

app.get('/api/v1/crm/customers/:id', { onRequest: guarded('GET /api/v1/crm/customers/{id}') }, async request => {
  const matching = { $and: [{ _id: new ObjectId(request.params.id) }, rows(request.person)] }
  const row = await customers.findOne(matching, { projection })
  if (!row) throw new Refused(404, 40400)
  return ok(wire(row, WORLD.customer_fields))
})

app.get('/api/v1/crm/customers', { schema: { querystring: page }, onRequest: guarded('GET /api/v1/crm/customers') }, async request => {
  const { page, page_size } = request.query
  const filter = rows(request.person)
  const [found, total] = await Promise.all([
    customers.find(filter, { projection }).sort({ created_at: -1, _id: -1 }).skip((page - 1) * page_size).limit(page_size).toArray(),
    customers.countDocuments(filter),
  ])
  return ok({ items: found.map(row => wire(row, WORLD.customer_fields)), total, page, page_size })
})

const records = database.collection('bench_records')
app.post('/api/v1/bench/records', { schema: { body: recordBody }, onRequest: guarded('POST /api/v1/bench/records') }, async request => {
  const body = request.body
  const now = new Date()
  const amount = body.amount == null ? null : Decimal128.fromString(Number(body.amount).toFixed(2))
  const document = {
    ...body, amount, tags: body.tags ?? [], version: 1, creator_id: request.person.id,
    creator_department_id: request.person.department, created_at: now, updated_at: now, updater_id: request.person.id,
    deleted: false,
  }
  await records.insertOne(document)
  return ok(wire(document, WORLD.record_fields))
})

const payments = database.collection('crm_payments')
app.get('/api/dashboard/sales-trend', { schema: { querystring: days }, onRequest: guarded('GET /api/dashboard/sales-trend') }, async request => {
  const count = request.query.days
  const hours8 = 8 * 3600_000
  const today = Math.floor((Date.now() + hours8) / 86_400_000) * 86_400_000 - hours8
  const first = today - (count - 1) * 86_400_000
  const day = { $dateTrunc: { date: '$paid_at', unit: 'day', timezone: 'Asia/Shanghai' } }
  const found = await payments.aggregate([
    { $match: { $and: [rows(request.person), { paid_at: { $gte: new Date(first), $lt: new Date(today + 86_400_000) } }] } },
    { $group: { _id: day, amount: { $sum: '$amount' }, count: { $sum: 1 } } },
  ]).toArray()
  const byDay = new Map(found.map(row => [row._id.getTime(), row]))
  const items = []
  for (let at = first; at <= today; at += 86_400_000) {
    const row = byDay.get(at)
    const date = new Date(at + hours8).toISOString().slice(0, 10)
    items.push({ date, amount: row ? row.amount.toString() : '0.00', count: row ? row.count : 0 })
  }
  return ok({ items, days: count })
})

app.post('/api/v1/auth/login', async request => {
  const user = await database.collection('rbac_users').findOne({ username: request.body.username })
  if (!user || !await bcrypt.compare(request.body.password, WORLD.hash)) throw new Refused(400, 40010)
  const now = Math.floor(Date.now() / 1000)
  const claims = { user_id: user._id, roles: [], iat: now }
  return ok({ accessToken: sign({ ...claims, exp: now + 1800 }), refreshToken: sign({ ...claims, exp: now + 604800 }) })
})

await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
