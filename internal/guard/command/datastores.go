package command

import (
	"strings"

	"hermes/internal/guard"
	"hermes/internal/shell"
	"hermes/internal/shell/code"
)

// datastores are rules beyond the original's table: databases, caches, queues, key stores and backups.
func datastores() table {
	return table{
		{
			Key:    "SQL UPDATE without WHERE",
			Harms:  guard.Remote | guard.Work,
			Match:  match{on: onPayload, test: statement(func(s code.Statement) bool { return s.Verb == "UPDATE" && !s.Where })},
			Why:    "changes every row of the table",
			Remedy: "look first: `psql -c 'SELECT count(*) FROM users'`",
			Hits:   []string{"mysql shop -e 'UPDATE users SET is_admin=1'", "psql -c 'update t set x = 1'"},
			Passes: []string{"psql -c 'SELECT count(*) FROM users'", "psql -c 'UPDATE t SET x = 1 WHERE id = 7'"},
		},
		{
			Key:    "SQL that drops columns or gives rights",
			Harms:  guard.Remote | guard.Work,
			Match:  match{on: onPayload, test: statementIn(altersMuch)},
			Why:    "deletes a column of every row, or decides who may do what",
			Remedy: "look first: `psql -c '\\d users'`",
			Hits: []string{"psql -c 'ALTER TABLE t DROP COLUMN x'", "psql -c 'ALTER USER u SUPERUSER'",
				"mysql -e \"GRANT ALL PRIVILEGES ON *.* TO 'x'@'%'\"", "psql -c 'ALTER TABLE t DROP x CASCADE'"},
			Passes: []string{"psql -c '\\d users'", "psql -c 'ALTER TABLE t ADD COLUMN x int'", "psql -c 'ALTER TABLE t DROP CONSTRAINT c'",
				"psql -c 'ALTER TABLE t ALTER COLUMN x DROP NOT NULL'", "psql -c 'GRANT SELECT ON t TO reader'"},
		},
		{
			Key:   "SQL that destroys, given to a client",
			Harms: guard.Remote | guard.Work,
			Match: all(runs("cqlsh", "snowsql", "snow", "bq", "impala-shell", "beeline", "hive", "presto", "trino", "duckdb", "usql", "influx",
				"iredis", "spark-sql", "vsql", "isql", "sqlplus", "hdbsql", "db2", "osqueryi", "pgcli", "mycli", "litecli", "clickhouse", "databricks",
				"cockroach", "steampipe", "wrangler", "turso", "pscale", "heroku", "prisma"), when(clientSQL)),
			Why:    "deletes data or the tables that hold it",
			Remedy: "look first: `cqlsh -e 'DESCRIBE KEYSPACES'`",
			Hits: []string{"cqlsh -e 'DROP KEYSPACE app'", "snowsql -q 'drop database prod'", "bq query --use_legacy_sql=false 'DROP TABLE d.t'",
				"echo 'TRUNCATE t' | usql pg://x", "trino --execute 'DELETE FROM t'"},
			Passes: []string{"cqlsh -e 'DESCRIBE KEYSPACES'", "bq query 'SELECT 1'", "duckdb -c 'select 1'", "cqlsh -e 'DELETE FROM t WHERE id = 1'"},
		},
		{
			Key:   "database removal",
			Harms: guard.Remote | guard.Work,
			Match: told(
				verbs{programs: "mysqladmin mariadb-admin", takes: "-u -h -P -S --user --host --port",
					forms: []string{"** drop|shutdown|kill|flush-privileges|password"}},
				verbs{programs: "pg_dropcluster pg_resetwal pg_ctlcluster pg_rewind", dry: "-n", forms: []string{"** *"}},
				verbs{programs: "etcdctl", takes: "--endpoints --cacert --cert --key --user", forms: []string{"del|rm|rmdir", "snapshot restore",
					"member remove", "user|role delete|revoke", "auth disable", "defrag"}},
				verbs{programs: "influx", forms: []string{"delete", "* delete"}},
				verbs{programs: "rabbitmqctl rabbitmqadmin", takes: "-n -p --node -H -u",
					forms: []string{"reset|force_reset|delete_*|purge_queue|stop|stop_app|forget_cluster_node|clear_*", "delete|purge"}},
				verbs{programs: "rpk", forms: []string{"topic|group|acl|user delete", "topic trim-prefix"}},
				verbs{programs: "nats", forms: []string{"stream|consumer|kv|object|context rm|purge|del|delete"}},
				verbs{programs: "consul", forms: []string{"kv delete", "force-leave|leave", "acl * delete", "snapshot restore"}},
				verbs{programs: "vault bao", takes: "-address -namespace", forms: []string{
					"delete", "kv delete|destroy|metadata", "secrets disable|move", "kv metadata delete", "lease|token revoke", "namespace delete",
					"audit disable", "operator seal|rekey|rotate"}},
				verbs{programs: "zkcli.sh zkcli", forms: []string{"** delete|deleteall|rmr"}},
				verbs{programs: "hdfs hadoop", forms: []string{"namenode", "fs|dfs -rm"}},
				verbs{programs: "nodetool", takes: "-h -p",
					forms: []string{"decommission|removenode|assassinate|clearsnapshot|truncatehints|drain|stopdaemon"}},
				verbs{programs: "curator_cli elasticsearch-keystore opensearch-keystore",
					forms: []string{"** delete_*|delete-*|remove|delete|close"}},
				verbs{programs: "ceph rbd rados radosgw-admin gluster", forms: []string{"** rm|remove|delete|destroy|purge|rmpool|zap|reset"}},
			).or(
				all(runs("dropdb", "dropuser"), not(given("--help", "-?", "--version", "-V"))),
				all(runs("mongosh", "mongo"), hears(".drop(", "dropDatabase(", "deleteMany({})", ".remove({})", "dropIndexes(")),
				told(verbs{programs: "celery", takes: "-A --app -b --broker", forms: []string{"purge", "control|amqp *"}}),
				all(runs("mongorestore"), given("--drop"), not(given("--dryRun"))),
				all(runs("pg_restore"), either(flagLetter('c', "--clean"), given("--clean")), not(given("-l", "--list"))),
				all(runs("kafka-topics.sh", "kafka-topics", "kafka-consumer-groups.sh", "kafka-consumer-groups", "kafka-acls.sh", "kafka-acls",
					"kafka-configs.sh", "kafka-configs"), given("--delete", "--reset-offsets", "--remove")),
				runs("kafka-delete-records.sh", "kafka-delete-records", "kafka-streams-application-reset.sh"),
				all(runs("hdfs", "hadoop"), given("-rm", "-rmr", "-format", "-expunge", "-delete")),
			),
			Why:    "deletes a database, a queue or keys with all they hold",
			Remedy: "list them: `psql -l`",
			Hits: []string{
				"dropdb --if-exists prod", "dropuser app", "mysqladmin -f drop shop", "mongorestore --drop --archive=a.gz",
				"pg_restore --clean -d prod a.dump", "etcdctl del '' --from-key=true",
				"consul kv delete -recurse /", "vault secrets disable secret/", "rabbitmqctl reset",
				"kafka-topics.sh --bootstrap-server k:9092 --delete --topic x", "hdfs dfs -rm -r /data",
				"mongosh x <<< 'db.users.drop()'", "celery -A app purge -f",
			},
			Passes: []string{"psql -l", "dropdb --help", "mongodump --db app", "pg_restore -l a.dump", "etcdctl get /x", "consul kv get a",
				"vault kv get secret/x", "rabbitmqctl list_queues", "mongorestore --dryRun --drop a"},
		},
		{
			Key:    "Redis data or settings changed as a whole",
			Harms:  guard.Remote | guard.Host,
			Match:  all(runs("redis-cli", "valkey-cli", "keydb-cli", "redli", "nc", "ncat", "netcat", "memcached-tool", "telnet"), when(flushes)),
			Why:    "empties a store, or makes its server write where it is told",
			Remedy: "look first: `redis-cli info keyspace`",
			Hits: []string{
				"redis-cli FLUSHALL", "redis-cli -h cache -n 2 flushdb async", "redis-cli CONFIG SET dir /root/.ssh",
				"echo flushall | nc -q1 redis 6379", "redis-cli --scan | xargs redis-cli del",
				"echo FLUSHDB | redis-cli", "redis-cli shutdown nosave",
			},
			Passes: []string{"redis-cli info keyspace", "redis-cli get flushall", "redis-cli set a b", "redis-cli del cache:1",
				"echo 'INFO server' | redis-cli", "redis-cli config get dir"},
		},
		{
			Key:   "database reset by a framework",
			Harms: guard.Work | guard.Remote,
			Match: told(
				verbs{programs: "rails rake bin/rails",
					forms: []string{"db:drop|db:drop:*|db:reset|db:reset:*|db:purge|db:purge:*|db:schema:load|db:schema:load:*|db:structure:load|" +
						"db:migrate:reset|db:rollback|db:truncate_all|db:seed:replant"}},
				verbs{programs: "python manage.py django-admin flask", forms: []string{"*manage.py flush|reset_db|sqlflush|clean_db|dropdb",
					"flush|reset_db", "db downgrade"}},
				verbs{programs: "php artisan", forms: []string{"*artisan migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe",
					"migrate:fresh|migrate:reset|db:wipe",
					"*console doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load"}},
				verbs{programs: "console", forms: []string{"doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load"}},
				verbs{programs: "symfony", forms: []string{"console doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load"}},
				verbs{programs: "sail", forms: []string{"artisan migrate:fresh|migrate:reset|db:wipe"}},
				verbs{programs: "prisma", forms: []string{"migrate reset"}},
				verbs{programs: "yarn pnpm npm", forms: []string{"prisma migrate reset", "sequelize|sequelize-cli db:drop|db:migrate:undo:all",
					"typeorm schema:drop", "knex migrate:rollback"}},
				verbs{programs: "alembic", dry: "--sql", takes: "-c -n -x", forms: []string{"downgrade", "stamp"}},
				verbs{programs: "sequelize sequelize-cli", forms: []string{"db:drop|db:migrate:undo|db:migrate:undo:all|db:seed:undo:all"}},
				verbs{programs: "typeorm mikro-orm", forms: []string{"schema:drop|schema:fresh|migration:revert|migration:fresh"}},
				verbs{programs: "knex", forms: []string{"migrate:rollback|migrate:down"}},
				verbs{programs: "mix", forms: []string{"ecto.drop|ecto.reset|ecto.rollback|hex.publish"}},
				verbs{programs: "dotnet", forms: []string{"ef database drop"}},
				verbs{programs: "dotnet-ef", forms: []string{"database drop"}},
				verbs{programs: "flyway", forms: []string{"** clean|undo"}},
				verbs{programs: "liquibase", forms: []string{"** drop-all|dropall|dropAll|rollback|rollback-count|rollback-to-date|" +
					"rollback-one-changeset|rollback-one-update|rollbackCount"}},
				verbs{programs: "sqlx diesel", forms: []string{"database drop|reset", "migrate|migration revert|redo"}},
				verbs{programs: "goose", takes: "-dir -table", forms: []string{"** reset|down|down-to|redo"}},
				verbs{programs: "migrate", takes: "-path -database -source", forms: []string{"drop|down|force"}},
				verbs{programs: "dbmate", takes: "-u --url -d", forms: []string{"drop|down|rollback"}},
				verbs{programs: "atlas", forms: []string{"schema clean", "migrate down"}},
				verbs{programs: "hasura", forms: []string{"migrate delete", "metadata clear"}},
				verbs{programs: "wp drush", forms: []string{"db drop|reset|clean|import", "site empty|delete", "sql:drop|sql-drop|site:install"}},
			).or(all(runs("prisma"), told(verbs{programs: "prisma", forms: []string{"db push"}}), given("--force-reset", "--accept-data-loss"))),
			Why:    "throws the database's contents away",
			Remedy: "look first: `rails db:migrate:status`",
			Hits: []string{
				"rails db:drop", "RAILS_ENV=production bundle exec rake db:schema:load", "python manage.py flush --no-input",
				"npx prisma migrate reset --force", "php artisan migrate:fresh --force",
				"alembic downgrade base", "mix ecto.reset", "prisma db push --force-reset", "yarn prisma migrate reset",
			},
			Passes: []string{"rails db:migrate:status", "rails db:migrate", "python manage.py migrate", "alembic upgrade head",
				"alembic downgrade -1 --sql", "prisma migrate status", "php artisan migrate:status", "rails db:drop --help"},
		},
		{
			Key:   "deletion of backups or of a copy's extra files",
			Harms: guard.Remote | guard.Host,
			Match: told(
				verbs{programs: "rclone", dry: "-n -i --interactive", takes: "--config", forms: []string{"purge|delete|deletefile|cleanup|rmdirs"}},
				verbs{programs: "restic rustic", dry: "-n", takes: "-r --repo -p --password-file", forms: []string{"forget|prune|unlock",
					"key remove|passwd"}},
				verbs{programs: "borg borgmatic", dry: "-n", forms: []string{"delete|prune|break-lock|recreate", "key change-passphrase"}},
				verbs{programs: "kopia", forms: []string{"snapshot delete|expire", "repository|policy delete|disconnect"}},
				verbs{programs: "duplicity duply", forms: []string{"remove-*|cleanup|purge*", "* purge*"}},
				verbs{programs: "tmutil", forms: []string{"delete|disable|deletelocalsnapshots|thinlocalsnapshots|removedestination"}},
				verbs{programs: "snapper", takes: "-c --config", forms: []string{"delete|remove|rm|undochange|rollback", "delete-config"}},
				verbs{programs: "barman pgbackrest wal-g wal-e", takes: "--stanza --config", forms: []string{"delete|expire|stanza-delete",
					"** delete"}},
				verbs{programs: "vssadmin wbadmin", fold: true, forms: []string{"delete"}},
			).or(
				all(runs("tarsnap"), given("-d", "--nuke")),
				all(runs("timeshift"), given("--delete", "--delete-all", "--restore")),
				all(runs("rclone"), told(verbs{programs: "rclone", dry: "-n -i --interactive", forms: []string{"sync|bisync|move|moveto"}}),
					when(toRemote)),
				all(runs("rsync"), given("--delete", "--del", "--delete-before", "--delete-during", "--delete-delay", "--delete-after",
					"--delete-excluded", "--delete-missing-args", "--remove-source-files"), when(mirrored)),
			),
			Why:    "deletes copies that may be the only ones",
			Remedy: "see what would go: `rsync -avn --delete ./ host:/srv/app/`",
			Hits: []string{
				"rclone purge remote:backup", "rclone sync /tmp/empty remote:backup", "restic forget --prune --keep-last 1",
				"borg delete --force /mnt/backup::all", "tarsnap --nuke",
				"rsync -a --delete empty/ backup@nas:/volume1/", "rsync -a --delete empty/ /srv/data/",
			},
			Passes: []string{"rsync -avn --delete ./ host:/srv/app/", "rsync -a --delete src/ build/", "rclone copy a remote:b",
				"rclone sync a remote:b --dry-run", "restic snapshots", "borg list /mnt/x", "rsync -a src/ host:/srv/"},
		},
		{
			Key:    "database filled from another program",
			Harms:  guard.Work | guard.Remote,
			Match:  all(runs("psql", "mysql", "mariadb", "sqlite3"), when(fillsDatabase)),
			Why:    "runs whatever statements arrive: a dump replaces what the database holds",
			Remedy: "write them to a file that can be read first: `pg_dump app > dump.sql`",
			Hits:   []string{"pg_dump a | psql b", "cat dump.sql | ssh db psql", "gunzip -c dump.sql.gz | mysql app", "sqlite3 a.db .dump | sqlite3 b.db", "./make_sql | psql app"},
			Passes: []string{"pg_dump app > dump.sql", "psql app < queries/report.sql", "cat q.sql | psql app", "mysql app < schema.sql", "sed s/x/y/ q.sql | psql", "echo 'select 1' | psql", "psql -c 'select 1' | wc -l"},
		},
		{
			Key:    "HTTP request that deletes",
			Harms:  guard.Remote,
			Match:  all(runs("curl", "wget", "http", "https", "xh", "xhs", "curlie"), when(deletesByHTTP)),
			Why:    "deletes something on a server",
			Remedy: "look at it first: `curl https://api.example.com/items/7`",
			Hits: []string{
				"curl -X DELETE https://api.example.com/items/7", "curl -XDELETE localhost:9200/_all", "curl --request=DELETE http://es:9200/logs",
				"wget --method=DELETE http://x.example/1",
				"curl -XPOST http://es:9200/logs/_delete_by_query -d '{}'", "http DELETE api.example.com/x",
				"curl http://ch:8123 -d 'DROP TABLE t'", "curl http://db:8086/query --data-urlencode 'q=DROP DATABASE x'",
			},
			Passes: []string{"curl https://api.example.com/items/7", "curl -X DELETE http://localhost:3000/api/todos/17", "curl -s -X DELETE http://localhost:8080/api/cart/3 -H 'X-Test-User: qa1'",
				"curl -X POST x.example -d DELETE", "curl -X DELETE 127.0.0.1:8080/x", "http GET x.example",
				"curl -G https://example.com/s --data-urlencode 'q=DROP TABLE users'"},
		},
	}
}

// altersMuch tells whether a statement drops a column, or gives somebody all rights.
func altersMuch(text string, s code.Statement) bool {
	part := strings.Join(strings.Fields(strings.ToUpper(text[min(s.Start, len(text)):min(s.End, len(text))])), " ")
	switch s.Verb {
	case "ALTER":
		if strings.HasPrefix(part, "ALTER TABLE") {
			n := strings.Index(part, " DROP ")
			if n < 0 {
				return false
			}
			what, _, _ := cut(part[n+len(" DROP "):], ' ')
			return !has([]string{"CONSTRAINT", "DEFAULT", "NOT", "INDEX", "KEY", "FOREIGN", "PRIMARY", "CHECK", "EXPRESSION", "IDENTITY", "TRIGGER"},
				what)
		}
		return (strings.HasPrefix(part, "ALTER USER") || strings.HasPrefix(part, "ALTER ROLE") || strings.HasPrefix(part, "ALTER SYSTEM") ||
			strings.HasPrefix(part, "ALTER LOGIN")) && !strings.Contains(part, " NOSUPERUSER")
	case "GRANT":
		return strings.Contains(part, "GRANT ALL") || strings.Contains(part, " ON *.*") || strings.Contains(part, "GRANT OPTION") ||
			strings.Contains(part, "SUPERUSER") || strings.Contains(part, " PG_")
	case "CREATE":
		return strings.Contains(part, " SUPERUSER")
	}
	return false
}

// clientSQL holds when text given to a client by option, operand or standard input holds a statement that destroys.
func clientSQL(c *ctx, i int) (span, bool) {
	args := c.args(i)
	for _, w := range args[1:] {
		t := w.Text
		if n := strings.IndexByte(t, '='); n > 0 && t[0] == '-' {
			t = t[n+1:]
		}
		if destroysSQL(t) {
			return at(w), true
		}
	}
	if in := c.cmd(i).Stdin; in != nil && destroysSQL(in.Text) {
		return span{}, true
	}
	return span{}, false
}

func destroysSQL(text string) bool {
	if strings.IndexByte(text, ' ') < 0 {
		return false
	}
	for _, s := range code.Scan(code.SQL, text).SQL {
		switch s.Verb {
		case "DROP":
			if dropsData(text, s) {
				return true
			}
		case "TRUNCATE":
			return true
		case "DELETE", "UPDATE":
			if !s.Where {
				return true
			}
		}
	}
	return false
}

// flushes holds for what empties a Redis server, changes its settings, or deletes what a list says, given as words or on
// standard input.
func flushes(c *ctx, i int) (span, bool) {
	args := c.args(i)
	if c.name(i) != "nc" && c.name(i) != "ncat" && c.name(i) != "netcat" && c.name(i) != "telnet" {
		v := verbs{fold: true}
		var buf [12]int
		words := spoken(args, "-h -p -n -a -u -s -r -i -x --user --pass --host --port", buf[:0])
		for _, form := range [...]string{
			"flushall|flushdb|shutdown|swapdb|debug|replicaof|slaveof|failover|flush_all", "config set|rewrite", "module load|loadex|unload",
			"cluster reset|flushslots|forget|failover", "script flush",
			"function flush|delete", "acl setuser|deluser|load",
		} {
			if n := v.match(form, args, words); n >= 0 {
				return at(args[n]), true
			}
		}
		if len(words) > 0 && (v.fits("del|unlink", args[words[0]].Text)) {
			if c.cmd(i).Looped {
				return at(args[words[0]]), true
			}
			for _, w := range args[words[0]:] {
				if len(w.Holes) > 0 && (w.Holes[0].Kind == shell.Item || w.Holes[0].Kind == shell.Output) {
					return at(w), true
				}
			}
		}
	}
	if in := c.cmd(i).Stdin; in != nil {
		for _, line := range strings.Split(in.Text, "\n") {
			if line = strings.ToLower(strings.TrimSpace(line)); strings.HasPrefix(line, "flush") || strings.HasPrefix(line, "config set ") ||
				line == "shutdown" {
				return span{}, true
			}
		}
	}
	return span{}, false
}

// toRemote holds when the last word names a place on another machine: "remote:path".
func toRemote(c *ctx, i int) (span, bool) {
	args := c.args(i)
	w := args[len(args)-1]
	return at(w), strings.IndexByte(w.Text, ':') > 1
}

// mirrored holds when rsync deletes on another machine, or outside the work tree and the folders for temporary files.
func mirrored(c *ctx, i int) (span, bool) {
	for _, w := range c.args(i)[1:] {
		if t := w.Text; len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, 'n') > 0 || t == "--list-only" {
			return span{}, false
		}
	}
	words := c.operands(i)
	if len(words) < 2 {
		return span{}, false
	}
	to := words[len(words)-1]
	if n := strings.IndexByte(to.Text, ':'); n >= 0 && strings.IndexByte(to.Text[:n], '/') < 0 {
		return at(to), true
	}
	for _, t := range c.targets(to, c.cmd(i).Dir) {
		if !t.maybe && !t.blind && !c.inTree(t) && !c.isTemp(t) {
			return at(to), true
		}
	}
	return span{}, false
}

// deletesByHTTP holds for a request that deletes, unless it goes to a server on this machine that is none for data.
func deletesByHTTP(c *ctx, i int) (span, bool) {
	var method, url span
	local := true
	args := c.args(i)
	sql := takesSQL(args)
	for k, w := range args[1:] {
		t := w.Text
		switch {
		case t == "DELETE", t == "-XDELETE", t == "--request=DELETE", t == "--method=DELETE", len(t) > 2 && t[0] == '-' && t[1] != '-' &&
			strings.HasSuffix(t, "XDELETE"):
			if t == "DELETE" && c.name(i) == "curl" && args[k].Text != "--request" && !strings.HasSuffix(args[k].Text, "X") {
				continue
			}
			method = at(w)
		case strings.Contains(t, "/_delete_by_query"):
			return at(w), true
		case sql && strings.IndexByte(t, ' ') > 0 && destroysSQL(strings.TrimPrefix(strings.TrimPrefix(t, "q="), "query=")):
			return at(w), true
		case k > 0 && headerOption(args[k].Text):
		case t != "" && t[0] != '-' && (strings.Contains(t, "://") || strings.ContainsAny(t, ".:")):
			url = at(w)
			local = local && onThisMachine(t)
		}
	}
	if method == (span{}) || url == (span{}) || local {
		return span{}, false
	}
	return method, true
}

// takesSQL tells whether one of the words is the address of a server that runs the SQL it is sent.
func takesSQL(args []shell.Word) bool {
	for _, w := range args[1:] {
		for _, s := range [...]string{":8123", ":8086", ":9047", ":4000/", ":8047", "/query", "/_sql", "/api/sql"} {
			if strings.Contains(w.Text, s) {
				return true
			}
		}
	}
	return false
}

// onThisMachine tells whether a URL names a server on this machine that is no store of data or of containers.
func onThisMachine(url string) bool {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	host, _, _ := cut(url, '/')
	name, port := host, ""
	if n := strings.LastIndexByte(host, ':'); n >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:n], host[n+1:]
	}
	switch name {
	case "localhost", "127.0.0.1", "[::1]", "0.0.0.0", "":
	default:
		return false
	}
	switch port {
	case "9200", "9201", "5984", "8529", "8500", "8200", "2375", "2376", "2379", "6443", "8086", "8983", "15672", "7474", "6333":
		return false
	}
	return true
}

// readsSQL tells whether command i reads its statements from standard input.
func (c *ctx) readsSQL(i int) bool {
	for k := range c.prog.Payloads {
		if p := &c.prog.Payloads[k]; p.Command == i && p.How == "stdin" {
			return true
		}
	}
	return false
}

// fillsDatabase holds for a client that is given statements nobody can see here: from another program, or on another
// machine.
func fillsDatabase(c *ctx, i int) (span, bool) {
	in := c.cmd(i).Stdin
	if in == nil || len(in.Holes) == 0 || !c.readsSQL(i) {
		return span{}, false
	}
	if c.cmd(i).Place == shell.Elsewhere {
		return c.whole(i), true
	}
	n, ok := c.upstream(i, func(c *ctx, n int) bool {
		switch c.name(n) {
		case "cat", "echo", "printf", "sed", "envsubst", "head", "tail", "tee", "grep", "awk", "tr", "jinja2", "m4", "":
			return false
		}
		return true
	}, 16)
	if !ok {
		return span{}, false
	}
	return span{c.cmd(n).Start, max(c.cmd(n).End, c.cmd(i).End)}, true
}

// headerOption tells whether the value of an option of curl goes with the request and is no address.
func headerOption(opt string) bool {
	switch opt {
	case "-H", "--header", "-A", "--user-agent", "-e", "--referer", "-b", "--cookie", "-d", "--data", "--data-raw", "--data-binary", "--json", "-o", "--output", "-w", "--write-out", "-u", "--user", "-m", "--max-time":
		return true
	}
	return false
}
