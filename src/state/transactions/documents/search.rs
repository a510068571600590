//! Lookup of documents that contain words and phrases.

use crate::{
    Store,
    documents::{
        Matches, Term,
        rows::{postings, workspaces},
    },
};
use toolwire_db::{
    Error, StoreError,
    sql::{self, Connection},
};
use toolwire_tool::context::TaskId;

/// The weight of a phrase, which is the maximum weight of a word.
const PHRASE_WEIGHT: u8 = 8;

/// Number of documents whose positions are compared in one step. It bounds memory, and each step costs some statements.
const AT_ONCE: u32 = 2_500;

impl Store {
    /// The documents of a tree that contain each of the terms.
    pub async fn match_documents(&self, root: &TaskId, terms: &[Term]) -> Result<Matches, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(find(&mut reader, root, terms).await)
    }
}

async fn find(connection: &mut Connection, root: &TaskId, terms: &[Term]) -> Result<Matches, Error> {
    let mut view = sql::view(connection).await?;
    let Some(workspace) = workspaces::find(root).optional(&mut view).await? else {
        return Ok(Matches { documents: 0, parts: vec![Vec::new(); terms.len()] });
    };
    let mut parts = Vec::with_capacity(terms.len());
    for term in terms {
        parts.push(match term {
            Term::Word(stem) => postings::weights(&mut view, workspace.id, stem).await?,
            Term::Phrase(stems) => phrase(&mut view, workspace.id, stems).await?,
        });
    }
    Ok(Matches { documents: workspace.documents, parts })
}

/// The documents that contain consecutive words, a number of documents at a time.
async fn phrase(connection: &mut Connection, tree: i64, stems: &[String]) -> Result<Vec<(i64, u8)>, Error> {
    let [first, others @ ..] = stems else { return Ok(Vec::new()) };
    let (mut found, mut after) = (Vec::new(), 0);
    while let Some(last) = postings::last_of_next(tree, first, after, AT_ONCE).one(connection).await? {
        let mut begins = postings::positions(connection, tree, first, after, last).await?;
        begins.sort_unstable_by_key(|(document, _)| *document);
        for (offset, stem) in (1_u32..).zip(others) {
            if begins.is_empty() {
                break;
            }
            let positions = postings::positions(connection, tree, stem, after, last).await?;
            begins = retain_continued(begins, positions, offset);
        }
        found.extend(begins.into_iter().map(|(document, _)| (document, PHRASE_WEIGHT)));
        after = last;
    }
    Ok(found)
}

/// Retains the beginnings of a phrase that its word at `offset` continues, in order of documents.
fn retain_continued(
    begins: Vec<(i64, Vec<u32>)>,
    mut next: Vec<(i64, Vec<u32>)>,
    offset: u32,
) -> Vec<(i64, Vec<u32>)> {
    next.sort_unstable_by_key(|(document, _)| *document);
    let mut next = next.into_iter().peekable();
    let continued = |(document, mut begins): (i64, Vec<u32>)| {
        while next.next_if(|(other, _)| *other < document).is_some() {}
        let (_, positions) = next.next_if(|(other, _)| *other == document)?;
        let mut positions = positions.into_iter().peekable();
        begins.retain(|begin| {
            while positions.next_if(|position| *position < begin + offset).is_some() {}
            positions.peek() == Some(&(begin + offset))
        });
        (!begins.is_empty()).then_some((document, begins))
    };
    begins.into_iter().filter_map(continued).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_stands_where_each_word_follows_the_one_before() {
        let begins = vec![(1, vec![3, 9]), (2, vec![7]), (3, vec![1])];
        let begins = retain_continued(begins, vec![(2, vec![6]), (1, vec![4, 11]), (9, vec![8])], 1);
        assert_eq!(begins, [(1, vec![3])]);
        assert_eq!(retain_continued(begins.clone(), vec![(1, vec![2, 5])], 2), [(1, vec![3])]);
        assert_eq!(retain_continued(begins, vec![(1, vec![4])], 2), []);
    }
}
