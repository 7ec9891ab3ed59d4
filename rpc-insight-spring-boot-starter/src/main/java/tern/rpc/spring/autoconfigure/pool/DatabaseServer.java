package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Identifies the database that a data source uses. Two data sources can use the same database. */
final class DatabaseServer {

    /**
     * The URL prefixes of drivers whose URLs do not identify the database after their parameters have been removed. For
     * SQL Server, a parameter names the database. In Oracle, the user is the schema.
     */
    private static final List<String> UNKNOWN = List.of("jdbc:sqlserver:", "jdbc:oracle:");

    /**
     * Parameters that select a schema. Two data sources with different schemas do not count as the same database,
     * because tables in the two schemas can have the same name.
     */
    private static final List<String> SCHEMAS = List.of("currentschema", "searchpath", "search_path");

    /** The URL of an unnamed H2 in-memory database. Each connection with this URL has its own database. */
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
