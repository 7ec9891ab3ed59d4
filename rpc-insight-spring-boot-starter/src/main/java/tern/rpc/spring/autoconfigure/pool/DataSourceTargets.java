package tern.rpc.spring.autoconfigure.pool;

import javax.sql.DataSource;

/** Measures data sources of one library that are not beans but targets of another data source. */
interface DataSourceTargets {

    /**
     * @return the data source itself if it belongs to another library
     */
    DataSource watchedTarget(DataSource source, String name);
}
