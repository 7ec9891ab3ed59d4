package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.OutsideStatements;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.rule.UnknownExecutors;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.diagnosis.stack.NewConnections;
import tern.rpc.diagnosis.stack.StackReader;

/** Creates the cause descriptions for databases. */
final class StoreText {

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final Map<String, PoolVerdict> pools;
    private final ServerText servers;
    private final RowLockText locks;

    StoreText(
            Evidence evidence,
            ExcessTime excess,
            Operations operations,
            Map<String, PoolVerdict> pools,
            ServerText servers) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.pools = pools;
        this.servers = servers;
        this.locks = new RowLockText(evidence, operations, pools);
    }

    CauseDescription statement(Part part) {
        if (part.name().endsWith(NewConnections.OPENED)) {
            return withoutPool(part);
        }
        OutsideStatements.Found outside = new OutsideStatements(evidence, pools).of(part);
        return outside != null
                ? outside(part, outside)
                : new SlowStatementText(evidence, excess, operations, pools, servers, locks, part).describe();
    }

    /**
     * Returns the cause description for a statement run by a thread that serves no call, while calls wait for its
     * result.
     */
    private CauseDescription outside(Part part, OutsideStatements.Found outside) {
        String text = outside.statement();
        String line = excess.samples.shownLineOf(part);
        String in = " in " + (line == null ? part.name().replace(StackReader.CALLED, "") : line);
        List<String> facts = new ArrayList<>(List.of(outside.fact()));
        HeldRows.Found holder = locks.holderDuring(Set.of(text));
        if (holder != null) {
            return RowLockText.describe("ROW LOCK", text, holder, text + in, facts);
        }
        String waiting = text + ", which thread " + outside.threads() + "* runs" + in;
        if (outside.waitsForLock()) {
            boolean isRow = Statements.writes(text.toLowerCase(Locale.ROOT))
                    && !Statements.addsRows(text.toLowerCase(Locale.ROOT));
            String table = Statements.table(text);
            return new CauseDescription(
                    isRow ? "ROW LOCK" : "TABLE LOCK",
                    text,
                    Change.of(
                            Where.PEER,
                            "end or shorten the transaction or the statement that locks"
                                    + (table == null ? "" : " the table " + table + " or rows of it")
                                    + ": the database's list of sessions and of locks names it, for example a session"
                                    + " that is idle in a transaction, a LOCK TABLE, or a change of the table (ALTER"
                                    + " TABLE) that waits for one itself; a plan does not become this slow at once;"
                                    + " waiting: " + waiting),
                    facts);
        }
        return new CauseDescription(
                "SLOW STATEMENT",
                text,
                Change.of(
                        Where.STATEMENT,
                        "check this statement: its plan, its indexes, the number of rows, and the locks that it waits"
                                + " for: " + waiting + "; calls wait for the result of this thread"
                                + UnknownExecutors.poolSize(outside.threads())),
                facts);
    }

    /** Returns the text for code that opens a database connection for each use. */
    private CauseDescription withoutPool(Part part) {
        String where = part.name()
                .substring(StackReader.CALLED.length(), part.name().length() - NewConnections.OPENED.length());
        String line = excess.samples.shownLineOf(part);
        return new CauseDescription(
                "CONNECTIONS OPEN SLOWLY",
                "opened in " + where,
                Change.of(
                        Where.CODE,
                        "use a connection pool instead of a new connection for each use in "
                                + (line == null ? where : line)),
                List.of("samples  " + excess.samples.looks(part) + " found a call that opens a connection"));
    }
}
