package tern.rpc.spring.autoconfigure.pool;

import org.jspecify.annotations.Nullable;

/** Finds out which database a data source uses. Two data sources may use the same database. */
final class DatabaseServer {

    /** A driver whose URL names the database among the parameters. */
    private static final String SQL_SERVER = "jdbc:sqlserver:";

    private DatabaseServer() {}

    /** Returns the database in the URL of a data source, without parameters; null if it is unknown. */
    static @Nullable String of(@Nullable String url) {
        return url == null || url.startsWith(SQL_SERVER) ? null : url.split("[?;]", 2)[0];
    }
}
