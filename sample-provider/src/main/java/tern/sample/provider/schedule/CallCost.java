package tern.sample.provider.schedule;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import tern.sample.provider.schedule.ScheduleProperties.Cost;

/**
 * Simulates additional costs of real services. The costs are set by the properties under {@code sample.cost} and are
 * zero by default.
 */
@Component
class CallCost {

    private static final Logger log = LoggerFactory.getLogger(CallCost.class);
    private static final String DETAIL = "considered: skill, shift, language, region, distance, tasks of today, rating";

    private final DataSource dataSource;
    private final Cost cost;

    CallCost(DataSource dataSource, ScheduleProperties properties) {
        this.dataSource = dataSource;
        this.cost = properties.cost();
    }

    /** Simulates the costs of a call on the call's thread. */
    void ofCall(String requestId) {
        for (int i = 0; i < cost.connections(); i++) {
            takeConnection();
        }
        for (int i = 0; i < cost.logLines(); i++) {
            log.info("{}: candidate {} {}", requestId, i, DETAIL);
        }
    }

    /** Borrows a database connection and returns it, as a method of a small repository would. */
    private void takeConnection() {
        try (Connection connection = dataSource.getConnection()) {
            connection.getAutoCommit();
        } catch (SQLException e) {
            throw new IllegalStateException("no connection to the database: " + e.getMessage(), e);
        }
    }

    /** Simulates the costs of the task that a call submits. Runs on the thread of the task. */
    void ofTask() {
        Duration time = cost.bindTime();
        if (time.isZero()) {
            return;
        }
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
