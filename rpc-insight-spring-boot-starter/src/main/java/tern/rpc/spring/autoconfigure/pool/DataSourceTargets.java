package tern.rpc.spring.autoconfigure.pool;

import javax.sql.DataSource;

/** Measures one pool library's data sources that are not beans but targets of another data source. */
interface DataSourceTargets {

    /**
     * Returns the measured data source.
     *
     * @return {@code source} itself if it belongs to another library
     */
    DataSource watchedTarget(DataSource source, String name);
}
