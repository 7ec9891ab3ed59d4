package tern.rpc.spring.autoconfigure.pool;

import javax.sql.DataSource;

/** Measures the data sources of one library that are targets of another data source, and no beans. */
interface DataSourceTargets {

    /** @return the data source itself if it is of another library */
    DataSource watchedTarget(DataSource source, String name);
}
