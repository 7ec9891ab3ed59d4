package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.druid.pool.DruidDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import shop.Export;
import tern.rpc.CallLedger;
import tern.rpc.NanoClock;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.Holders;
import tern.rpc.pool.StoreNames;

class BorrowersTest {

    @Test
    void codeThatDoesNotCloseItsConnectionIsKnown() throws SQLException {
        DruidLedgerFilter filter =
                new DruidLedgerFilter(StoreNames.ofDataSources().add("druid"));
        Holders holders = filter.borrowings().holders();
        holders.size(2);
        List<Connection> lost = new ArrayList<>();
        try (DruidDataSource pool = new DruidDataSource()) {
            pool.setUrl("jdbc:h2:mem:borrowers");
            pool.setMaxActive(2);
            pool.getProxyFilters().add(filter);
            CallLedger call = new CallLedger(NanoClock.SYSTEM);
            CallLedger before = CallLedger.replace(call);
            lost.add(Export.run(pool));
            lost.add(Export.run(pool));
            CallLedger.replace(before);
            call.end();

            assertThat(holders.all()).hasSize(2).allSatisfy(holder -> {
                assertThat(holder.isAbandoned()).isTrue();
                assertThat(holder.statement()).isEqualTo("select ?");
                assertThat(holder.isExecuting()).isFalse();
            });
            assertThat(holders.all().stream()
                            .map(Holders.Holder::place)
                            .filter(Objects::nonNull)
                            .map(ApplicationCode::method))
                    .contains("Export.run");
            for (Connection connection : lost) {
                connection.close();
            }
            assertThat(holders.all()).isEmpty();
        }
    }
}
