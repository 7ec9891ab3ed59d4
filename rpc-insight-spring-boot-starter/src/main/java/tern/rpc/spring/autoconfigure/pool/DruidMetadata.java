package tern.rpc.spring.autoconfigure.pool;

import com.alibaba.druid.pool.DruidDataSource;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.AbstractDataSourcePoolMetadata;

/** Provides the values for Boot's {@code jdbc.connections.*} meters for a Druid pool. */
final class DruidMetadata extends AbstractDataSourcePoolMetadata<DruidDataSource> {

    private DruidMetadata(DruidDataSource pool) {
        super(pool);
    }

    static @Nullable DruidMetadata of(DataSource source) {
        DruidDataSource pool = DataSourceUnwrapper.unwrap(source, DruidDataSource.class);
        return pool == null ? null : new DruidMetadata(pool);
    }

    @Override
    public Integer getActive() {
        return getDataSource().getActiveCount();
    }

    @Override
    public Integer getIdle() {
        return getDataSource().getPoolingCount();
    }

    @Override
    public Integer getMax() {
        return getDataSource().getMaxActive();
    }

    @Override
    public Integer getMin() {
        return getDataSource().getMinIdle();
    }

    @Override
    public @Nullable String getValidationQuery() {
        return getDataSource().getValidationQuery();
    }

    @Override
    public Boolean getDefaultAutoCommit() {
        return getDataSource().isDefaultAutoCommit();
    }
}
