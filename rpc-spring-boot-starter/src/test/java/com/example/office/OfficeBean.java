package com.example.office;

import java.sql.SQLException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Implements the service with a lock, a database, another service and an executor. */
@RpcService
public class OfficeBean implements Office {

    private final Seals seals = new Seals();
    private final Files files;
    private final Store store;
    private final ExecutorService mail;

    OfficeBean(DataSource database, @RpcReference Store store, @Qualifier("mail") ExecutorService mail)
            throws SQLException {
        this.files = new Files(database);
        this.store = store;
        this.mail = mail;
    }

    @Override
    public int seal(int number) {
        return seals.next(number);
    }

    @Override
    public int file(int number) {
        try {
            return files.open(number);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int export(int number) {
        try {
            return files.export(number);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public int order(int item) {
        return store.stock(item);
    }

    @Override
    public int mail(int number) {
        try {
            return mail.submit(() -> print(number)).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int print(int number) {
        Fault.TASKS.pauseIfInjected();
        return number;
    }
}
