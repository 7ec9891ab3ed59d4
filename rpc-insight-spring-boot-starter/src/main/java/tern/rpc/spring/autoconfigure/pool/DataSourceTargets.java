package tern.rpc.spring.autoconfigure.pool;

import javax.sql.DataSource;

/** Measures data sources of one pool library that are not beans, but that another data source delegates to. */
interface DataSourceTargets {

    /**
     * Returns an instrumented data source to use instead of the given one.
     *
     * @return {@code source} itself if it does not come from the library that this object instruments
     */
    DataSource watchedTarget(DataSource source, String name);
}
