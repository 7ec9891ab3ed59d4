package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds out which database a data source uses. Two data sources may use the same database. */
final class DatabaseServer {

    /** Drivers whose URL does not tell the database without parameters. In Oracle, the user is the schema. */
    private static final List<String> UNKNOWN = List.of("jdbc:sqlserver:", "jdbc:oracle:");

    /** Parameters that choose a schema. Tables of two schemas may have the same name. */
    private static final List<String> SCHEMAS = List.of("currentschema", "searchpath", "search_path");

    /** The URL of a database of H2 without a name. Each connection has its own. */
    private static final String PRIVATE = "jdbc:h2:mem:";

    private DatabaseServer() {}

    /** Returns the database in the URL of a data source, without parameters; null if it is unknown. */
    static @Nullable String of(@Nullable String url) {
        if (url == null) {
            return null;
        }
        String lower = url.toLowerCase(Locale.ROOT);
        if (UNKNOWN.stream().anyMatch(lower::startsWith) || SCHEMAS.stream().anyMatch(lower::contains)) {
            return null;
        }
        String database = url.split("[?;]", 2)[0];
        return database.equals(PRIVATE) ? null : database;
    }
}
